"""How updates are shown: lines of text, JSON lines, or bars where there is a terminal and Rich is installed."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Protocol
from uuid import UUID

import click

from howdah.cli.output import print_json, printable
from howdah.cli.watch_words import Told, event_words, state_words
from howdah.model.status import Status
from howdah.model.update import Update


class WatchView(Protocol):
    """Where updates appear."""

    def drawing(self) -> AbstractContextManager[object]:
        """While the block runs, `show` is called again and again."""

    def show(self, update: Update) -> None:
        """Something new about a job."""


class JsonLines:
    """One JSON object per update."""

    def drawing(self) -> AbstractContextManager[object]:
        """Nothing to prepare."""
        return nullcontext()

    def show(self, update: Update) -> None:
        """The update as it is."""
        print_json(update)


class PlainLines:
    """A line for each event, and one for each change that a line shows."""

    def __init__(self) -> None:
        self._told = Told()

    def drawing(self) -> AbstractContextManager[object]:
        """Nothing to prepare."""
        return nullcontext()

    def show(self, update: Update) -> None:
        """Events first: they came before what the job has come to."""
        now = datetime.now().astimezone().strftime("%H:%M:%S")
        who = f"{update.job_id}  {printable(update.job_type)}"
        for event in update.events:
            click.echo(f"{now}  {who}  {event_words(event)}")
        if self._told.is_new(update):
            click.echo(f"{now}  {who}  {state_words(update)}")


def bars_fit(stream: object) -> bool:
    """Whether bars can be drawn there."""
    terminal = getattr(stream, "isatty", lambda: False)() and os.environ.get("TERM", "dumb") != "dumb"
    return terminal and importlib.util.find_spec("rich") is not None


def choose_view(*, as_json: bool, plain: bool) -> WatchView:
    """What fits the place where the command runs."""
    if as_json:
        return JsonLines()
    if plain or not bars_fit(sys.stdout):
        return PlainLines()
    return bars(on_stderr=False)


def bars(*, on_stderr: bool) -> WatchView:
    """Bars on the terminal."""
    # Imported only here: Rich is an extra.
    from howdah.cli.watch_bars import Bars

    return Bars(on_stderr=on_stderr)


def follow(updates: Iterable[Update], view: WatchView) -> bool:
    """Show every update; whether no job ended otherwise than completed."""
    bad: set[UUID] = set()
    with view.drawing():
        for update in updates:
            view.show(update)
            if update.gone or update.status in (Status.FAILED, Status.CANCELLED):
                bad.add(update.job_id)
            else:
                bad.discard(update.job_id)
    return not bad
