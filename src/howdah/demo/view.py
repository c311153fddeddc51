"""What shows the demo to somebody: live bars in a terminal, lines elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from howdah.demo.standing import Line


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One job when all is over; `failures`: what was expected of it in vain."""

    label: str
    outcome: str
    attempts: int
    deaths: int
    took: float
    shows: str
    failures: tuple[str, ...]


class View(Protocol):
    """Where the show appears."""

    def say(self, text: str, *, alarm: bool = False) -> None:
        """Something happened that is worth a line which stays; an alarm is worth a colour too."""

    def watching(self) -> AbstractContextManager[None]:
        """While the block runs, `show` is called again and again."""

    def show(self, lines: Sequence[Line], workers: Sequence[str]) -> None:
        """How all jobs stand now, and which workers live."""

    def summarise(self, rows: Sequence[SummaryRow]) -> None:
        """How everything ended."""
