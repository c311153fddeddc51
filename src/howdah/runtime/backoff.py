"""How long to wait before trying a broken thing again: longer and longer, never in step with others."""

from __future__ import annotations

import random


class Pauses:
    """Grows from `first` to `longest` seconds, with jitter; `reset` after a success."""

    def __init__(self, first: float = 0.05, longest: float = 5.0) -> None:
        self._first = first
        self._longest = longest
        self._next = first

    def next(self) -> float:
        """The next pause."""
        pause = self._next
        self._next = min(self._next * 2, self._longest)
        return pause * random.uniform(0.5, 1.0)  # noqa: S311 - spreads reconnections, protects nothing

    def reset(self) -> None:
        """Begin again with short pauses."""
        self._next = self._first
