"""`howdah migrate`: create or upgrade the tables."""

from __future__ import annotations

import json

import click

from howdah.cli.database import database_options, opened
from howdah.db import migrator
from howdah.db.catalog import DEFAULT_SCHEMA, Catalog
from howdah.db.connecting import connect
from howdah.db.faults import explained
from howdah.model.errors import SchemaMissing, SchemaTooNew, SchemaTooOld


@click.command()
@database_options
@click.option("--sql", "print_sql", is_flag=True, help="Print all migrations as SQL and touch no database.")
@click.option("--check", is_flag=True, help="Change nothing; exit 0 if the tables fit this code, else 1.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def migrate(url: str | None, schema: str | None, print_sql: bool, check: bool, as_json: bool) -> int:
    """Create or upgrade Howdah's tables.

    Safe to run from several places at once and while workers run; what is applied already is left alone.
    """
    if print_sql and (check or as_json):
        raise click.UsageError("--sql goes with neither --check nor --json")
    if print_sql:
        click.echo("".join(migrator.script(Catalog(schema or DEFAULT_SCHEMA))), nl=False)
        return 0
    if check:
        return check_schema(url, schema, as_json)
    with opened(url, schema, create=True) as app, explained(), connect(app.locate(), "migrate") as connection:
        applied = migrator.migrate(connection, app.catalog)
        found = migrator.current_version(connection, app.catalog)
        migrator.check_version(found, app.catalog)
    version = found.number if found is not None else None
    if as_json:
        steps = [{"version": step.version, "name": step.name} for step in applied]
        click.echo(json.dumps({"version": version, "applied": steps}))
        return 0
    for step in applied:
        click.echo(f"applied {step.version:04} {step.name}")
    click.echo(f"the schema is at version {version}")
    return 0


def check_schema(url: str | None, schema: str | None, as_json: bool) -> int:
    """0 if the tables fit this code, else 1 and a line that names the command."""
    with opened(url, schema) as app, explained(), connect(app.locate(), "migrate") as connection:
        found = migrator.current_version(connection, app.catalog)
        problem = None
        try:
            migrator.check_version(found, app.catalog)
        except (SchemaMissing, SchemaTooOld, SchemaTooNew) as error:
            problem = str(error)
    version = found.number if found is not None else None
    if as_json:
        answer = {"version": version, "needed": app.catalog.version, "fits": problem is None, "problem": problem}
        click.echo(json.dumps(answer))
    elif problem is None:
        fitting = (
            "as this code needs it" if version == app.catalog.version else "newer than this code, which can use it"
        )
        click.echo(f"the schema is at version {version}, {fitting}")
    if problem is not None:
        click.echo(f"howdah: {problem}", err=True)
    return 0 if problem is None else 1
