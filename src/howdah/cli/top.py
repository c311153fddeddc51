"""`howdah top`: queues, workers, running jobs and failures, live in the terminal."""

from __future__ import annotations

import importlib.util
import os
import sys

import click

from howdah.cli.database import database_options, opened
from howdah.db.connecting import place_of
from howdah.model.errors import OptionError


@click.command()
@database_options
@click.option("--read-only", is_flag=True, help="Look only: the keys that change anything do nothing.")
def top(url: str | None, schema: str | None, read_only: bool) -> None:
    """Watch queues, workers, running jobs and failures, live.

    Cancels, retries and pauses from the keyboard, after a question; ? shows the keys.
    """
    check_terminal()
    # Imported only here: Textual is an extra.
    from howdah.top.application import Top

    with opened(url, schema) as app:
        # Connects first: a wrong URL or missing tables are told as one line, before the screen is taken.
        place = place_of(app.sessions.url())
        Top(app, place, read_only=read_only).run()


def check_terminal() -> None:
    """Refuse what cannot work, naming what can."""
    if importlib.util.find_spec("textual") is None:
        raise OptionError("howdah top needs Textual; run: pip install 'howdah[top]'")
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        raise OptionError(
            "howdah top needs a terminal; without one, `howdah ls`, `howdah queues` and `howdah workers` print"
        )
