"""`howdah roles`: least privilege, for those who want it."""

from __future__ import annotations

import click

from howdah.cli.database import database_options, opened
from howdah.cli.output import json_option, print_json
from howdah.db import migrator
from howdah.db import roles as step
from howdah.db.catalog import DEFAULT_SCHEMA, Catalog
from howdah.db.connecting import connect
from howdah.db.faults import explained


@click.command()
@database_options
@click.option("--sql", "print_sql", is_flag=True, help="Print the whole step as SQL and touch no database.")
@json_option("one JSON object")
def roles(url: str | None, schema: str | None, print_sql: bool, as_json: bool) -> None:
    """Create roles with least privilege, or renew their rights.

    A producer, a worker, an admin, a reader and a payload reader, named after the schema; your own roles become
    members of them. May be repeated; `howdah migrate` renews the rights by itself. Run it as the owner of the tables.
    """
    if print_sql and as_json:
        raise click.UsageError("--sql does not go with --json")
    if print_sql:
        click.echo(step.script(Catalog(schema or DEFAULT_SCHEMA)), nl=False)
        return
    with opened(url, schema) as app, explained(), connect(app.locate(), "roles") as connection:
        migrator.check_version(migrator.current_version(connection, app.catalog), app.catalog)
        done = step.set_up(connection, app.catalog)
        names = step.names(app.catalog)
    if as_json:
        print_json({"roles": names, "created": done.created, "owner_is_superuser": done.owner_is_superuser})
    else:
        for name in names:
            click.echo(f"{name}  {'created' if name in done.created else 'was there; its rights are renewed'}")
    if done.owner_is_superuser:
        click.echo(
            f"howdah: the tables belong to {done.owner}, a superuser, and functions run with their owner's rights;"
            " better to migrate as a role of its own (docs/security.md)",
            err=True,
        )
