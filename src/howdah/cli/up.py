"""`howdah up`: everything that development needs, in one process that Ctrl-C ends.

The database (embedded, unless one is named) with its tables, a worker that is replaced when the code changes, and the
dashboard. This process never runs the user's code: it outlives many versions of it.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
from datetime import timedelta
from pathlib import Path

import click

from howdah.app import EMBEDDED_FOLDER, Howdah
from howdah.cli.database import check_url, database_options
from howdah.cli.durations import duration
from howdah.cli.logs import LogFormat, set_up_logs
from howdah.cli.probing import probe
from howdah.cli.supervised import Command
from howdah.cli.ui import DEFAULT_PORT
from howdah.db import migrator
from howdah.db.connecting import connect, place_of
from howdah.db.faults import explained
from howdah.model.errors import OptionError

_MODULES = ("watchfiles", "starlette", "uvicorn", "jinja2")


@click.command()
@click.argument("app_name", metavar="APP")
@database_options
@click.option(
    "--port", type=click.IntRange(0, 65535), help=f"The dashboard's.  [default: {DEFAULT_PORT}, or a free one]"
)
@click.option(
    "--watch",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Reload when Python files below change.  [default: the current directory]",
)
@click.option("--concurrency", type=click.IntRange(1), default=10, show_default=True, help="Jobs at once.")
@click.option("--grace", type=duration, default="10s", show_default=True, help="Time to finish for jobs of old code.")
def up(
    app_name: str,
    url: str | None,
    schema: str | None,
    port: int | None,
    folders: tuple[Path, ...],
    concurrency: int,
    grace: timedelta,
) -> int:
    """Run everything for development: database, tables, worker, dashboard.

    APP is package.module:variable, seen from the current directory. The worker is replaced when the code changes; code
    that does not start changes nothing. Ctrl-C stops everything.
    """
    check_installed()
    check_url(url)
    from howdah.cli.code_watch import check_roots
    from howdah.cli.upkeep import Plan, keep_up

    roots = check_roots(folders or (Path(),))
    found = probe(app_name, url, schema)
    set_up_logs(LogFormat.CONSOLE, verbose=False)
    words = ["worker", app_name, "--concurrency", str(concurrency), "--grace", f"{grace.total_seconds()}s"]
    words += [*(["--url", url] if url is not None else []), *(["--schema", schema] if schema is not None else [])]
    command = Command([sys.executable, "-m", "howdah", *words], os.getcwd(), dict(os.environ))
    app = Howdah(url if url is not None else found.url, schema=found.schema)
    try:
        prepare(app)
        types = f"{len(found.job_types)} job type{'s' if len(found.job_types) != 1 else ''}"
        say("worker", f"{app_name}, {types}, replaced when the code changes")
        asyncio.run(keep_up(app, Plan(command, roots, port), say))
    finally:
        app.close()
    return 0


def check_installed() -> None:
    """Say which extra is missing, instead of a traceback."""
    missing = [name for name in _MODULES if importlib.util.find_spec(name) is None]
    if missing:
        raise OptionError(f"howdah up needs {', '.join(missing)}; run: pip install 'howdah[up]'")


def prepare(app: Howdah) -> None:
    """Start the database, if it is the embedded one, and make its tables fit."""
    url = app.locate()
    embedded = app.url_in_code is None and not os.environ.get("HOWDAH_URL")
    say("database", f"embedded PostgreSQL in ./{EMBEDDED_FOLDER}" if embedded else place_of(url))
    with explained(), connect(url, "migrate") as connection:
        applied = migrator.migrate(connection, app.catalog)
        migrator.check_version(migrator.current_version(connection, app.catalog), app.catalog)
    if applied:
        say("tables", f"migrated to version {applied[-1].version}")


def say(what: str, words: str) -> None:
    """A line for the person who started this."""
    click.echo(f"{what:<10} {words}", err=what != "dashboard")
