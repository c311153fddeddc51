"""When a worker that died is started again: at once, unless it keeps dying."""

from __future__ import annotations

from howdah.runtime.backoff import Pauses

#: Who has lived this long did not die of its start. No better origin than that.
STEADY_SECONDS = 10.0
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0


class Restarts:
    """Of one seat."""

    def __init__(self) -> None:
        self._pauses = Pauses(FIRST_PAUSE, LONGEST_PAUSE)
        self._died_before = False

    def pause(self, lived: float) -> float:
        """How long to wait after one that lived this many seconds."""
        if lived >= STEADY_SECONDS:
            self._pauses.reset()
            self._died_before = False
        first, self._died_before = not self._died_before, True
        return 0.0 if first else self._pauses.next()
