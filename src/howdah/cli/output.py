"""What commands print on stdout: aligned text for people, JSON for programs. Texts from the database are shown without
control characters, which could play tricks on a terminal."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import click

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
    click.echo(json.dumps(plain(value)))


def plain(value: object) -> Any:
    """A value of ours as JSON knows it: times in ISO form, durations in seconds, ids as text."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def print_table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Columns under their heads, two spaces apart; the last one as long as it likes."""
    texts = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(heads, *texts, strict=True)]
    for number, row in enumerate([list(heads), *texts]):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        if number:
            cells = [_coloured(cell) for cell in cells]
        click.echo("  ".join(cells).rstrip())


def print_fields(fields: Sequence[tuple[str, object]]) -> None:
    """Names and values; a value of several lines stands indented below its name."""
    width = max(len(name) for name, _ in fields)
    for name, value in fields:
        lines = [printable(line) for line in str(value).split("\n")] if isinstance(value, str) else [printable(value)]
        if len(lines) == 1:
            click.echo(f"{name:<{width}}  {_coloured(lines[0])}".rstrip())
        else:
            click.echo("\n    ".join([name, *lines]).rstrip())


def printable(value: object) -> str:
    """A value as text for a terminal; nothing at all is a dash."""
    if value is None or value == "":
        return "-"
    if isinstance(value, datetime):
        return value.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in str(value))


def _coloured(cell: str) -> str:
    word = cell.strip()
    if word not in _COLOURS or os.environ.get("NO_COLOR") or not sys.stdout.isatty():
        return cell
    return click.style(cell, fg=_COLOURS[Status(word)])
