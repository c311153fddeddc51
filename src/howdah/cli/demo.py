"""`howdah demo`: the queue at work, in under a minute, on a PostgreSQL of its own."""

from __future__ import annotations

import os
import sys
import time

import click

from howdah.db.catalog import Catalog
from howdah.demo.choose_view import choose_view
from howdah.demo.interruption import ignore_signals, leave_on_signals
from howdah.demo.jobs import app
from howdah.demo.private_server import PrivateServer, private_server
from howdah.demo.show import Show
from howdah.demo.view import View
from howdah.demo.workers import DemoFailed, Workers

WHAT_NEXT = """
What next
  write your own jobs   README.md, "Ten minutes": @app.job(), then enqueue()
  run them              howdah up yourmodule:app   (database, worker that reloads, dashboard)
  look at the tables    howdah db start && howdah migrate && howdah db psql
"""


@click.command()
@click.option("--plain", is_flag=True, help="Print lines instead of live bars, as without a terminal.")
def demo(plain: bool) -> None:
    """Watch the queue at work: a dozen jobs, two workers, one of them killed.

    Uses a PostgreSQL of its own in a temporary folder, and removes both.
    """
    leave_on_signals()
    began = time.monotonic()
    view = choose_view(plain=plain)
    view.say("a dozen jobs, two workers, and somebody who kills them")
    try:
        with private_server(Catalog()) as server:
            view.say("a private PostgreSQL runs in a temporary folder, Howdah's tables in it")
            troubles = _perform(server, view)
    except SystemExit:
        click.echo("howdah: interrupted; workers and server are stopped, their folder is removed", err=True)
        raise
    click.echo()
    if troubles:
        click.echo("howdah: the demo did not end as expected:", err=True)
        for trouble in troubles:
            click.echo(f"  {trouble}", err=True)
        sys.exit(1)
    click.echo(f"Everything ended as expected, checked in the database, in {time.monotonic() - began:.0f} s.")
    click.echo(WHAT_NEXT.rstrip())


def _perform(server: PrivateServer, view: View) -> list[str]:
    """What went otherwise than it should."""
    # The one way to point the demo's app and its workers to this server, whatever database the caller's own apps use.
    os.environ["HOWDAH_URL"] = server.url
    workers = Workers(server.folder)
    try:
        show = Show(app.sessions, workers, view)
        troubles = _played(show)
        rows = show.summary()
        workers.stop()
    finally:
        ignore_signals()
        workers.stop_at_once()
        app.close()
    view.summarise(rows)
    return troubles + [f"{row.label}: expected {failure}" for row in rows for failure in row.failures]


def _played(show: Show) -> list[str]:
    try:
        show.perform()
    except DemoFailed as failure:
        return [str(failure)]
    return []
