"""What stands before the tables for a moment: a question, the help, everything about one job."""

from __future__ import annotations

from typing import ClassVar

from rich.console import Group
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

HELP = """\
tab, shift+tab   next table, the one before
1 2 3 4          queues, workers, running, failures
up, down         choose a line
enter            everything about the chosen job
z                the chosen table alone, and back
/                filter; escape takes it away

c                cancel the chosen running job
r                retry the chosen failed job
p                pause the chosen queue, or resume it

q                quit

A filter is a part of what is shown, or conditions as in
`howdah ls --where`: type=encode error~"timed out"."""


class Question(ModalScreen[bool]):
    """Asks before anything is changed; only `y` is a yes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("y", "dismiss(True)", "Yes"),
        ("n", "dismiss(False)", "No"),
        ("escape", "dismiss(False)", "No"),
    ]

    def __init__(self, question: str, consequence: str) -> None:
        super().__init__()
        self._question = question
        self._consequence = consequence

    def compose(self) -> ComposeResult:
        """The question, what it would do, and how to answer."""
        with VerticalScroll(classes="dialog question"):
            yield Static(Text(self._question, "bold"), classes="what")
            yield Static(Text(self._consequence))
            yield Static(Text.from_markup("\n[bold]y[/] yes    [bold]n[/] no"))


class Sheet(ModalScreen[None]):
    """Something to read."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "dismiss", "Close"),
        ("q", "dismiss", "Close"),
        ("enter", "dismiss", "Close"),
        ("question_mark", "dismiss", "Close"),
    ]

    def __init__(self, title: str, *parts: Text) -> None:
        super().__init__()
        self._title = title
        self._parts = parts

    def compose(self) -> ComposeResult:
        """The text, scrollable."""
        with VerticalScroll(classes="dialog") as sheet:
            sheet.border_title = self._title
            sheet.border_subtitle = "escape closes"
            yield Static(Group(*self._parts))
