"""`howdah why`: what keeps a job from running."""

from __future__ import annotations

from functools import partial
from uuid import UUID

import click

from howdah.admin.why import Why, find_why
from howdah.cli.database import database_options, opened
from howdah.cli.job_ids import job_id
from howdah.cli.output import json_option, print_json, printable


@click.command()
@click.argument("wanted", metavar="ID", type=job_id)
@database_options
@json_option("one JSON object")
def why(wanted: UUID, url: str | None, schema: str | None, as_json: bool) -> None:
    """Say why a job is not running."""
    with opened(url, schema) as app:
        found = app.sessions.run(partial(find_why, wanted))
    if as_json:
        print_json(found)
        return
    for line in lines(found):
        click.echo(line)


def lines(found: Why) -> list[str]:
    """The reasons, the one to look at first first."""
    told = [f"{found.status}: {printable(found.reasons[0].words)}"]
    told += [f"  and {printable(reason.words)}" for reason in found.reasons[1:]]
    return told
