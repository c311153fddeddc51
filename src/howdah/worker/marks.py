"""Where in the line the next claim begins: this worker's memory of how far it has read (sql/migrations/0008_marks.sql).

Two marks: `near`, just behind what was claimed last, and `far`, which never passes a row that is still to be claimed nor the
last two seconds. Claims begin

- at `near` in a flood, so that each walks over no row twice, however many dead ones a held snapshot keeps in the index;
- at `far` when there is little to do, and in a flood every half second: what committed late, within two seconds, is found;
- at no mark, so at the head of the line, every half second as long as that is cheap, and otherwise as seldom as makes it
  cheap: whatever lies there is found sooner or later. Dead rows are what makes it dear, and vacuum what makes it cheap again.
"""

from __future__ import annotations

import time
from enum import Enum, auto

from howdah.worker.store import Haul

LOOK_BACK_SECONDS = 0.5
#: Looking from the head of the line may take one part in this many of a worker's time.
_HEAD_SHARE = 50


class Start(Enum):
    """Where a claim begins."""

    NEAR = auto()
    FAR = auto()
    HEAD = auto()


class Marks:
    """The marks of one worker. Opaque texts: the database writes and reads them."""

    def __init__(self) -> None:
        self._near: str | None = None
        self._far: str | None = None
        self._next_far = 0.0
        self._next_head = 0.0
        self._flood = False

    def choose(self) -> tuple[Start, str | None]:
        """Where the next claim begins."""
        now = time.monotonic()
        if self._near is None or now >= self._next_head:
            return Start.HEAD, None
        if self._far is not None and (not self._flood or now >= self._next_far):
            return Start.FAR, self._far
        return Start.NEAR, self._near

    def learn(self, start: Start, haul: Haul) -> None:
        """A claim that began there came back."""
        now = time.monotonic()
        self._near = haul.near
        self._flood = haul.more
        if start is not Start.NEAR:
            self._far = haul.far
            self._next_far = now + LOOK_BACK_SECONDS
        if start is Start.HEAD:
            self._next_head = now + max(LOOK_BACK_SECONDS, _HEAD_SHARE * haul.looked)

    def forget(self) -> None:
        """Begin at the head of the line: who knows what happened meanwhile."""
        self._near = self._far = None
