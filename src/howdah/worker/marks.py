"""Where in the line the next claim begins: this worker's memory of how far it has read
(sql/migrations/0008_marks.sql).

Two marks for each range: near, just behind what was claimed last, and far, which never passes a row that is still to
be claimed, nor the last two seconds. Claims begin

- at the near marks in a flood, so that none walks over the rows of another, however many dead ones a held snapshot
  keeps in the index;
- at the far marks when there is little to do, and in a flood every half second: what committed within two seconds
  after it was created is found there, and what committed later is found through the list that it wrote itself into;
- at no mark, at the head of the line, every half second as long as that is cheap, and otherwise as seldom as makes it
  cheap: whatever else lies there is found sooner or later. Dead rows make it dear, vacuum makes it cheap again.
"""

from __future__ import annotations

import time
from enum import Enum, auto

from howdah.worker.store import Haul, Place

LOOK_BACK_SECONDS = 0.5
#: Looking from the head of the line may take one part in this many of a worker's time.
_HEAD_SHARE = 50
#: The list of what committed late is kept for a minute: whoever has not read it for this long begins anew.
_OUT_OF_TOUCH_SECONDS = 30.0


class Start(Enum):
    """Where a claim begins."""

    NEAR = auto()
    FAR = auto()
    HEAD = auto()


class Marks:
    """The marks of one worker."""

    def __init__(self) -> None:
        self._near: Place | None = None
        self._far: Place | None = None
        self._last_far = 0.0
        self._next_head = 0.0
        self._flood = False

    def choose(self) -> tuple[Start, Place]:
        """Where the next claim begins."""
        now = time.monotonic()
        since_far = now - self._last_far
        if self._near is None or self._far is None or now >= self._next_head or since_far > _OUT_OF_TOUCH_SECONDS:
            return Start.HEAD, Place()
        if not self._flood or since_far > LOOK_BACK_SECONDS:
            return Start.FAR, self._far
        return Start.NEAR, self._near

    def learn(self, start: Start, haul: Haul) -> None:
        """A claim that began there came back."""
        now = time.monotonic()
        self._near = haul.near
        self._flood = haul.more
        if start is not Start.NEAR:
            self._far = haul.far
            self._last_far = now
        if start is Start.HEAD:
            self._next_head = now + max(LOOK_BACK_SECONDS, _HEAD_SHARE * haul.looked)

    def forget(self) -> None:
        """Begin at the head of the line: who knows what happened meanwhile."""
        self._near = self._far = None
