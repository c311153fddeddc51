"""`howdah doctor`: what is wrong with the database or the fleet, and what to do next."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import click

from howdah.admin.doctor.examination import examine
from howdah.admin.doctor.finding import Finding, Level
from howdah.app import EMBEDDED_FOLDER
from howdah.cli.database import database_options, opened
from howdah.cli.output import json_option, print_json, printable


@click.command()
@database_options
@json_option("a JSON list of findings")
@click.pass_context
def doctor(context: click.Context, url: str | None, schema: str | None, as_json: bool) -> None:
    """Examine the database, the workers and the jobs. Changes nothing.

    Exit code 0: nothing fails; 1: a check fails; 2: there is no database to examine.
    """
    with opened(url, schema) as app:
        findings = examine(app.locate(), app.catalog, _source(url))
    if as_json:
        print_json(findings)
    else:
        for line in lines(findings):
            click.echo(line)
    if any(finding.level is Level.FAIL for finding in findings):
        context.exit(1)


def lines(findings: Sequence[Finding]) -> Iterator[str]:
    """One line for each check, and the next step under those that are not well."""
    width = max(len(finding.check) for finding in findings)
    for finding in findings:
        level = finding.level.upper() if finding.level is Level.FAIL else finding.level
        yield f"{level:<4}  {finding.check:<{width}}  {printable(finding.message)}"
        if finding.next_step is not None:
            yield f"{'':<{width + 8}}→ {printable(finding.next_step)}"


def _source(url: str | None) -> str:
    if url:
        return "--url"
    return "HOWDAH_URL" if os.environ.get("HOWDAH_URL") else f"the embedded PostgreSQL in ./{EMBEDDED_FOLDER}"
