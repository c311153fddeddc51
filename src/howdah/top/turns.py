"""When which part is read: decided here, without a clock of its own, and carried out in reading.py."""

from __future__ import annotations

from collections.abc import Sequence

#: Seconds between two looks, and between two of the same part.
REST, TURN = 1.0, 3.0
#: How much longer than it took a part is left alone.
REST_FACTOR = 9.0


class Turns:
    """The first part is read at every look; of the others one at a time, whichever has waited longest."""

    def __init__(self, parts: Sequence[str]) -> None:
        self._first = parts[0]
        self._due = dict.fromkeys(parts, 0.0)
        self._all = True

    def all_over(self) -> None:
        """Let everything be read at the next look."""
        self._due = dict.fromkeys(self._due, 0.0)
        self._all = True

    def next(self, now: float) -> list[str]:
        """What to read now."""
        due = sorted((name for name, when in self._due.items() if when <= now), key=lambda name: self._due[name])
        everything, self._all = self._all, False
        others = [name for name in due if name != self._first]
        return due if everything else [name for name in due if name == self._first] + others[:1]

    def done(self, name: str, began: float, ended: float) -> None:
        """It was read, or was not to be had."""
        rest = REST if name == self._first else TURN
        self._due[name] = ended + max(rest, REST_FACTOR * (ended - began))
