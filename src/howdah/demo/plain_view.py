"""The show as lines of text: one whenever something changes, no control characters."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from howdah.demo.standing import Line
from howdah.demo.view import SummaryRow

_COLUMNS = "{:<19} {:<10} {:>8} {:>6} {:>7}  {}"


class PlainView:
    """Lines on standard output."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._told: dict[str, tuple[object, ...]] = {}

    def say(self, text: str, *, alarm: bool = False) -> None:
        """A line of the story."""
        self._print(f"{'!' if alarm else '*'} {text}")

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Nothing to prepare."""
        yield

    def show(self, lines: Sequence[Line], workers: Sequence[str]) -> None:
        """A line for each job whose state, stage, attempt or worker has changed."""
        for line in lines:
            job = line.standing
            # Stages that count, such as "photo 3 of 14", are told once per quarter of the way.
            news = (line.state, job.attempts, job.worker, job.progress // 25)
            if self._told.get(line.label) != news:
                self._told[line.label] = news
                self._print(_told(line))

    def summarise(self, rows: Sequence[SummaryRow]) -> None:
        """The table of outcomes."""
        click.echo()
        click.echo(_COLUMNS.format("job", "outcome", "attempts", "deaths", "took", "what it showed"))
        for row in rows:
            took = f"{row.took:.1f} s"
            click.echo(_COLUMNS.format(row.label, row.outcome, row.attempts, row.deaths, took, row.shows))
            for failure in row.failures:
                click.echo(f"    NOT AS EXPECTED: {failure}")

    def _print(self, text: str) -> None:
        click.echo(f"{time.monotonic() - self._began:5.1f} s  {text}")


def _told(line: Line) -> str:
    job = line.standing
    words = [f"{line.label:<19}", f"{line.state:<10}"]
    if line.state in ("running", "orphaned"):
        words.append(f"{job.progress:>3} %")
        words.append(f"attempt {job.attempts}, worker {job.worker}")
    if line.state == "scheduled" and job.due_in is not None:
        words.append(f"due in {job.due_in:.0f} s")
    if line.note:
        words.append(f"({line.note})")
    return " ".join(words).rstrip()
