"""How often to look: soon after something happened, and less and less often while nothing does."""

from __future__ import annotations

#: Seconds between looks after something happened, and at the most.
SOONEST, LATEST = 0.1, 0.5
#: The shortest time between two looks, so that a flood of rings, or of new watchers, is no flood of looks.
AT_LEAST = 0.03
#: The same for each job that is looked at, which takes the server about a twentieth of this (docs/decisions/0011).
FOR_EACH_JOB = 0.0003
#: Of all time, the part that looks may take: by the pace, and when rung for.
_SHARE, _SHARE_RUNG = 0.05, 0.1


class Pace:
    """The rest between two looks."""

    def __init__(self) -> None:
        self._rest = SOONEST
        self.at_least = AT_LEAST

    def rest(self, *, changed: bool, jobs: int, took: float) -> float:
        """How long to rest after a look at so many jobs that took so long, and found something new or not; whoever is
        woken earlier rests `at_least` that long."""
        self._rest = SOONEST if changed else min(self._rest * 1.3, LATEST)
        self.at_least = max(AT_LEAST, jobs * FOR_EACH_JOB, took / _SHARE_RUNG)
        return max(self._rest, self.at_least, took / _SHARE)
