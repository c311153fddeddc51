"""What commands print on stdout: aligned text for people, JSON for programs. Texts from the database are shown without
control characters, which could play tricks on a terminal."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import click

from howdah.cli.fitting import GAP, Fit, column_widths
from howdah.model.status import Status

C = TypeVar("C", bound=Callable[..., object])
_COLOURS = {
    Status.RUNNING: "cyan",
    Status.CLAIMED: "cyan",
    Status.COMPLETED: "green",
    Status.FAILED: "red",
    Status.CANCELLED: "yellow",
}


def json_option(of_what: str) -> Callable[[C], C]:
    """--json."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print {of_what}.")


def print_json(value: object) -> None:
    """One JSON value on one line, in ASCII: it survives any terminal, pipe and locale."""
    click.echo(json.dumps(value, default=plain))


def json_text(value: object) -> str:
    """A value from the table as JSON for people; a number of more digits than Python writes stands as text."""
    return json.dumps(value, ensure_ascii=False, default=str)


def plain(value: object) -> Any:
    """A value of ours as JSON knows it: times in ISO form, durations in seconds, ids as text. What it holds is left to
    the encoder, which goes deeper into a job's arguments than Python would."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value if value is None or isinstance(value, bool | int | float | str | dict | list | tuple) else str(value)


def print_table(heads: Sequence[str], rows: Sequence[Sequence[object]], fit: Fit | None = None) -> None:
    """Columns under their heads, two spaces apart; the last one as long as it likes. With `fit`, a terminal gets what
    fits into its width."""
    table = [list(heads), *([printable(cell) for cell in row] for row in rows)]
    if fit is not None and sys.stdout.isatty():
        table = fit.fitted(table, shutil.get_terminal_size().columns)
    widths = column_widths(table)
    for number, row in enumerate(table):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        if number:
            cells = [_coloured(cell) for cell in cells]
        click.echo((" " * GAP).join(cells).rstrip())


def print_fields(fields: Sequence[tuple[str, object]]) -> None:
    """Names and values; a value of several lines stands indented below its name."""
    width = max(len(name) for name, _ in fields)
    for name, value in fields:
        lines = value.rstrip("\n").split("\n") if isinstance(value, str) else []
        if len(lines) > 1:
            click.echo("\n".join([name, *(f"    {printable(line)}".rstrip() if line else "" for line in lines)]))
        else:
            click.echo(f"{name:<{width}}  {_coloured(printable(lines[0] if lines else value))}".rstrip())


def printable(value: object) -> str:
    """A value as text for a terminal: nothing at all is a dash, a time is local and has its UTC offset."""
    if value is None or value == "":
        return "-"
    if isinstance(value, datetime):
        return _local(value).isoformat(sep=" ", timespec="seconds")
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in str(value))


def _local(time: datetime) -> datetime:
    try:
        return time.astimezone()
    except OverflowError:
        # The last moment that Python knows (infinity is read as that) is a day too late for a zone in the east.
        return time


def _coloured(cell: str) -> str:
    word = cell.strip()
    if word not in _COLOURS or os.environ.get("NO_COLOR") or not sys.stdout.isatty():
        return cell
    return click.style(cell, fg=_COLOURS[Status(word)])
