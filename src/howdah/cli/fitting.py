"""Makes a table fit a terminal: texts are shortened first, then whole columns are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

GAP = 2
Table = list[list[str]]


@dataclass(frozen=True, slots=True)
class Fit:
    """What a table can do without: columns to shorten, each with its least width, and columns to leave out; both in the
    order in which they give way. Every other column stays whole."""

    shorten: tuple[tuple[str, int], ...]
    leave_out: tuple[str, ...]

    def fitted(self, table: Table, width: int) -> Table:
        """The table (heads in its first row) in that many columns of text, or as narrow as it may be."""
        for gone in range(len(self.leave_out) + 1):
            kept = _without(table, self.leave_out[:gone])
            widths = column_widths(kept)
            for head, least in self.shorten:
                column = kept[0].index(head)
                too_much = sum(widths) + GAP * (len(widths) - 1) - width
                widths[column] -= max(0, min(too_much, widths[column] - max(least, len(head))))
            if sum(widths) + GAP * (len(widths) - 1) <= width:
                break
        return [[_shortened(cell, room) for cell, room in zip(row, widths, strict=True)] for row in kept]


def column_widths(table: Sequence[Sequence[str]]) -> list[int]:
    """How wide each column is."""
    return [max(map(len, column)) for column in zip(*table, strict=True)]


def _without(table: Table, heads: Sequence[str]) -> Table:
    kept = [number for number, head in enumerate(table[0]) if head not in heads]
    return [[row[number] for number in kept] for row in table]


def _shortened(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"
