"""A table that is filled anew at every look, and stays where the reader was."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.widgets import DataTable

from howdah.top.lines import PADDING, Column, Line, widths

#: Columns that a scroll bar may take.
_SCROLL_BAR = 1
_NARROWEST = 40


class LiveTable(DataTable[Text]):
    """The cursor stays on its line wherever that moves; if the line is gone, on the one in its place."""

    def __init__(self, title: str, columns: Sequence[Column], *, id: str) -> None:
        super().__init__(
            id=id,
            cursor_type="row",
            cell_padding=PADDING,
            cursor_foreground_priority="renderable",
            show_row_labels=False,
        )
        self.title = title
        self._shape = columns
        self._laid_out: list[int] = []
        self.lines: list[Line] = []

    def on_mount(self) -> None:
        """Its title stands in its border."""
        self.border_title = self.title

    @property
    def room(self) -> list[int]:
        """The widths of its columns."""
        return widths(self._shape, max(_NARROWEST, self.size.width - _SCROLL_BAR))

    @property
    def selected(self) -> Line | None:
        """The line under the cursor."""
        return self.lines[self.cursor_row] if 0 <= self.cursor_row < len(self.lines) else None

    def fill(self, lines: Sequence[Line], note: str = "") -> None:
        """Show these lines; `note` stands beside the title."""
        self.border_title = f"{self.title} {len(lines)}"
        self.border_subtitle = note
        if self.room != self._laid_out:
            self._lay_out()
        if [line.key for line in lines] == [line.key for line in self.lines]:
            self._update(lines)
        else:
            self._replace(lines)
        self.lines = list(lines)

    def _lay_out(self) -> None:
        kept, self.lines, self._laid_out = self.selected, [], self.room
        self.clear(columns=True)
        for column, width in zip(self._shape, self._laid_out, strict=True):
            head = column.head.rjust(width) if column.figures else column.head
            self.add_column(head, width=width, key=column.head)
        if kept is not None:
            self.add_row(*kept.cells, key=kept.key)
            self.lines = [kept]

    def _update(self, lines: Sequence[Line]) -> None:
        for old, new in zip(self.lines, lines, strict=True):
            for column, before, after in zip(self._shape, old.cells, new.cells, strict=True):
                if not _same(before, after):
                    self.update_cell(new.key, column.head, after)

    def _replace(self, lines: Sequence[Line]) -> None:
        kept, place = self.selected, self.cursor_row
        self.clear()
        for line in lines:
            self.add_row(*line.cells, key=line.key)
        found = next((number for number, line in enumerate(lines) if kept is not None and line.key == kept.key), place)
        if lines:
            self.move_cursor(row=min(max(0, found), len(lines) - 1))


def _same(one: Text, other: Text) -> bool:
    # Text compares what it says and not how it looks as a whole.
    return one == other and one.style == other.style
