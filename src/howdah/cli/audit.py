"""`howdah audit`: who ordered what."""

from __future__ import annotations

from functools import partial

import click

from howdah.admin import order_store
from howdah.admin.orders import AuditEntry
from howdah.cli.database import database_options, opened
from howdah.cli.fitting import Fit
from howdah.cli.output import json_option, print_json, print_table

_FIT = Fit(shorten=(("TARGET", 12), ("WHO", 8)), leave_out=())


@click.command()
@database_options
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="At most this many.")
@click.option("--before", type=int, metavar="N", help="Only entries older than this one: the next page.")
@click.option("--who", metavar="NAME", help="Only what this one ordered.")
@click.option("--target", metavar="TEXT", help="Only about this: a job's id, 'queue emails', or a filter's text.")
@json_option("one JSON object per line")
def audit(
    url: str | None,
    schema: str | None,
    limit: int,
    before: int | None,
    who: str | None,
    target: str | None,
    as_json: bool,
) -> None:
    """List who changed what, newest first."""
    with opened(url, schema) as app:
        entries = app.sessions.run(partial(order_store.list_audit, limit, before, who, target))
    if as_json:
        for entry in entries:
            print_json(entry)
    elif entries:
        print_table(("N", "AT", "WHO", "WHAT", "TARGET", "JOBS"), [row(entry) for entry in entries], _FIT)
    else:
        click.echo("no entries", err=True)


def row(entry: AuditEntry) -> tuple[object, ...]:
    """An entry as a line of the table."""
    argument = entry.details.get("argument")
    what = entry.what if argument is None else f"{entry.what} {argument}"
    if "operation" in entry.details:
        what += " begun" if entry.details.get("began") else f" {entry.details.get('ended')}"
    return (entry.id, entry.at, entry.who, what, entry.target, entry.jobs)
