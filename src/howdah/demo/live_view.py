"""The show as a table with progress bars, redrawn in place. Lines that stay are printed above it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from howdah.demo.standing import Line
from howdah.demo.view import SummaryRow

REDRAWS_PER_SECOND = 8
_COLOURS = {
    "waiting": "dim",
    "scheduled": "cyan",
    "running": "bold blue",
    "retrying": "yellow",
    "orphaned": "bold red",
    "completed": "green",
    "failed": "red",
    "cancelled": "magenta",
}
_WIDTHS = {"job": 18, "state": 9, "progress": 16, "%": 3, "try": 3, "by": 3}
_ONE_SPACE = (0, 1, 0, 0)


class LiveView:
    """A live table on a terminal."""

    def __init__(self) -> None:
        self._console = Console(highlight=False)
        self._began = time.monotonic()
        self._lines: Sequence[Line] = ()
        self._workers: Sequence[str] = ()

    def say(self, text: str, *, alarm: bool = False) -> None:
        """A line of the story; it stays above the table."""
        line = Text.assemble((f"{self._elapsed():5.1f} s  ", "dim"), (text, "bold red" if alarm else ""))
        self._console.print(line)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Redraws in a thread of its own; the table goes when the block ends, for the summary replaces it."""
        with Live(
            console=self._console,
            get_renderable=self._render,
            refresh_per_second=REDRAWS_PER_SECOND,
            transient=True,
        ):
            yield

    def show(self, lines: Sequence[Line], workers: Sequence[str]) -> None:
        """To be drawn next time."""
        self._lines, self._workers = lines, workers

    def summarise(self, rows: Sequence[SummaryRow]) -> None:
        """The table of outcomes."""
        table = Table(box=None, pad_edge=False, padding=_ONE_SPACE, header_style="bold")
        for name in ("job", "outcome"):
            table.add_column(name, no_wrap=True)
        for name in ("attempts", "deaths", "took"):
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("what it showed")
        for row in rows:
            outcome = Text(row.outcome, _COLOURS.get(row.outcome, ""))
            took = f"{row.took:.1f} s"
            table.add_row(row.label, outcome, _count(row.attempts, 1), _count(row.deaths, 0), took, row.shows)
            for failure in row.failures:
                table.add_row("", Text("NOT AS EXPECTED", "bold red"), "", "", "", Text(failure, "red"))
        self._console.print()
        self._console.print(table)

    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    def _render(self) -> RenderableType:
        done = sum(line.standing.finished for line in self._lines)
        title = Text.assemble(
            ("howdah demo", "bold"),
            f"  {self._elapsed():.0f} s · {done} of {len(self._lines)} jobs ended · workers alive: ",
            (" ".join(self._workers) or "none", "bold green" if self._workers else "bold red"),
        )
        # One line short of the terminal's height would scroll: on a low terminal the finished ones make room.
        room = self._console.size.height - 5
        lines = list(self._lines)
        for line in self._lines:
            if len(lines) > max(room, 1) and line.standing.finished:
                lines.remove(line)
        return Group(Text(), title, _jobs_table(lines, self._console.width))


def _jobs_table(lines: Sequence[Line], width: int) -> Table:
    table = Table(box=None, pad_edge=False, padding=_ONE_SPACE, header_style="dim")
    for name, own in _WIDTHS.items():
        table.add_column(name, width=own, no_wrap=True, justify="right" if name in ("%", "try") else "left")
    # What is left and no more: Rich would rather narrow every column than cut the last one.
    left = width - sum(_WIDTHS.values()) - len(_WIDTHS)
    table.add_column("doing", width=max(left, 8), no_wrap=True, overflow="ellipsis")
    for line in lines:
        job = line.standing
        colour = _COLOURS.get(line.state, "")
        bar = ProgressBar(
            total=100,
            completed=job.progress,
            width=_WIDTHS["progress"],
            complete_style=colour or "blue",
            finished_style="green",
        )
        percent = str(job.progress) if job.progress else ""
        attempts = _count(job.attempts, 1) if job.attempts else ""
        table.add_row(
            line.label, Text(line.state, colour), bar, percent, attempts, job.worker or "", Text(_doing(line), "dim")
        )
    return table


def _doing(line: Line) -> str:
    job = line.standing
    if line.state in ("scheduled", "retrying") and job.due_in is not None:
        return f"in {job.due_in:.1f} s  {line.note}".rstrip()
    return line.note


def _count(number: int, usual: int) -> Text:
    return Text(str(number), "" if number <= usual else "bold yellow")
