"""A claimer's sleep, seen from outside: when it was rung, and for how long it meant to lie down."""

from __future__ import annotations

import pytest

from howdah.runtime.wakeup import Wakeup
from howdah.worker import claimer


class WatchedWakeup(Wakeup):
    """The wakeup of a worker's claimer; it waits as ever, and remembers."""

    def __init__(self) -> None:
        super().__init__()
        self.rings = 0
        #: How long the claimer was willing to wait, each time that it lay down after the last ring.
        self.rests: list[float] = []
        self.lies = False

    @property
    def asleep(self) -> bool:
        """Whether the claimer lies, and nothing has rung since: it has heard the bell for the first time, too."""
        return self.rings > 0 and self.lies and bool(self.rests)

    def ring(self) -> None:
        self.rings += 1
        self.rests.clear()
        super().ring()

    async def wait(self, seconds: float | None) -> bool:
        assert seconds is not None
        self.rests.append(seconds)
        self.lies = True
        try:
            return await super().wait(seconds)
        finally:
            self.lies = False


def watch_sleep(monkeypatch: pytest.MonkeyPatch) -> WatchedWakeup:
    """The wakeup that the next worker of this process will have."""
    wakeup = WatchedWakeup()
    monkeypatch.setattr(claimer, "Wakeup", lambda: wakeup)
    return wakeup
