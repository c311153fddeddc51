"""Jobs as bars, redrawn in place; events and ends are lines that stay above them."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from datetime import timedelta
from uuid import UUID

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from howdah.cli.output import printable
from howdah.cli.watch_words import Told, event_words, state_words
from howdah.model.durations import format_duration
from howdah.model.status import Status
from howdah.model.update import Update

_REDRAWS_PER_SECOND = 8
_COLOURS = {
    Status.PENDING: "dim",
    Status.CLAIMED: "cyan",
    Status.RUNNING: "bold blue",
    Status.COMPLETED: "green",
    Status.FAILED: "red",
    Status.CANCELLED: "yellow",
}
_BAR, _TYPE = 24, 20
_ORDER = (Status.RUNNING, Status.CLAIMED, Status.PENDING)


class Bars:
    """A bar for each job that has not ended."""

    def __init__(self, *, on_stderr: bool) -> None:
        self._console = Console(stderr=on_stderr, highlight=False)
        self._jobs: dict[UUID, tuple[Update, float]] = {}
        self._told = Told()

    def drawing(self) -> AbstractContextManager[object]:
        """Redraws in a thread of its own, so that remaining times count down."""
        return Live(
            console=self._console,
            get_renderable=self._render,
            refresh_per_second=_REDRAWS_PER_SECOND,
            transient=True,
        )

    def show(self, update: Update) -> None:
        """Events and ends as lines above, the rest in the bar."""
        who = f"{printable(update.job_type)} {str(update.job_id)[-12:]}"
        for event in update.events:
            self._console.print(Text.assemble((f"{who}  ", "dim"), event_words(event)), soft_wrap=True)
        if not update.finished:
            self._jobs[update.job_id] = (update, time.monotonic())
            return
        self._jobs.pop(update.job_id, None)
        if not self._told.is_new(update):
            return
        colour = "yellow" if update.gone else _COLOURS[update.status]
        self._console.print(Text.assemble((f"{who}  ", "dim"), (state_words(update), colour)), soft_wrap=True)

    def _render(self) -> RenderableType:
        # A copy: the other thread may be adding to it.
        known = list(self._jobs.values())
        jobs = sorted(known, key=lambda one: _ORDER.index(one[0].status))
        # One line short of the terminal's height would scroll.
        room = max(1, self._console.size.height - 3)
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), show_header=False)
        table.add_column(width=_TYPE, no_wrap=True, overflow="ellipsis")
        table.add_column(width=12, no_wrap=True)
        table.add_column(width=_BAR, no_wrap=True)
        table.add_column(width=4, no_wrap=True, justify="right")
        table.add_column(width=10, no_wrap=True)
        # What is left and no more: Rich would rather narrow every column than cut the last one.
        left = self._console.width - _TYPE - 12 - _BAR - 4 - 10 - 5
        table.add_column(width=max(left, 8), no_wrap=True, overflow="ellipsis")
        for update, since in jobs[:room]:
            table.add_row(*_row(update, timedelta(seconds=time.monotonic() - since)))
        hidden = len(jobs) - room
        return Group(table, Text(f"and {hidden} more", "dim")) if hidden > 0 else table


def _row(update: Update, ago: timedelta) -> list[RenderableType]:
    colour = _COLOURS[update.status]
    bar = ProgressBar(total=100, completed=update.progress, width=_BAR, complete_style="blue", finished_style="green")
    eta = "" if update.eta is None else f"eta {format_duration(max(timedelta(0), update.eta - ago))}"
    doing = printable(update.stage) if update.stage else str(update.status)
    if update.cancel_requested:
        doing = "to be cancelled"
    elif update.attempt > 1:
        doing = f"{doing} (attempt {update.attempt} of {update.max_attempts})"
    return [
        Text(printable(update.job_type)),
        Text(str(update.job_id)[-12:], "dim"),
        bar,
        f"{update.progress}%",
        Text(eta, "dim"),
        Text(doing, colour),
    ]
