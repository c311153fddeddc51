"""`howdah doctor`: what is wrong with the database or the fleet, and what to do next."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import click

from howdah.admin.doctor.examination import examine
from howdah.admin.doctor.finding import Finding, Level
from howdah.app import EMBEDDED_FOLDER, Howdah
from howdah.db.catalog import DEFAULT_SCHEMA
from howdah.model.errors import DatabaseUnavailable


@click.command()
@click.option("--url", help="The database. Else HOWDAH_URL, else the embedded PostgreSQL of this folder.")
@click.option("--schema", default=DEFAULT_SCHEMA, show_default=True, help="The schema of Howdah's tables.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list of findings.")
@click.pass_context
def doctor(context: click.Context, url: str | None, schema: str, as_json: bool) -> None:
    """Examine the database, the workers and the jobs. Changes nothing.

    Exit code 0: nothing fails; 1: a check fails; 2: there is no database to examine.
    """
    with _located(url, schema) as (app, place, source):
        findings = examine(place, app.catalog, source)
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False))
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
        yield f"{level:<4}  {finding.check:<{width}}  {finding.message}"
        if finding.next_step is not None:
            yield f"{'':<{width + 8}}→ {finding.next_step}"


@contextmanager
def _located(url: str | None, schema: str) -> Iterator[tuple[Howdah, str, str]]:
    if url:
        source = "--url"
    elif os.environ.get("HOWDAH_URL"):
        source = "HOWDAH_URL"
    elif Path(EMBEDDED_FOLDER).is_dir():
        source = f"the embedded PostgreSQL in ./{EMBEDDED_FOLDER}"
    else:
        # Anybody else makes an embedded database on first use; one made just now could only be found healthy.
        raise DatabaseUnavailable("no database to examine; give --url, set HOWDAH_URL, or run `howdah db start`")
    app = Howdah(url, schema=schema)
    try:
        yield app, app.locate(), source
    finally:
        app.close()
