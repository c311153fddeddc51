"""History as it was when it was read."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from enum import StrEnum

from howdah.telemetry.histogram import Histogram


@dataclass(frozen=True, slots=True)
class Work:
    """What workers did in some time. `ran`: how long handlers took, of attempts that completed or failed; `waited`:
    from when a job was due to when its handler started."""

    ran: Histogram = field(default_factory=Histogram)
    waited: Histogram = field(default_factory=Histogram)
    started: int = 0
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    retried: int = 0
    snoozed: int = 0
    released: int = 0
    rescued: int = 0

    @property
    def ended(self) -> int:
        """Jobs that ended for good."""
        return self.completed + self.failed + self.cancelled

    def less(self, other: Work) -> Work:
        """This without the other, which is a part of it."""
        counts = {
            one.name: max(0, getattr(self, one.name) - getattr(other, one.name))
            for one in fields(self)
            if one.name not in ("ran", "waited")
        }
        return Work(**counts, ran=self.ran.less(other.ran), waited=self.waited.less(other.waited))


@dataclass(frozen=True, slots=True)
class Point:
    """One bar of a chart: `step` long from `at` on. `seconds` of it had passed when it was read, so rates are counts
    divided by that. `waiting`: the most jobs that were seen waiting; None: none were, or nobody looked, which of all
    queues together is 0 and None. `oldest_seconds`: for how long the oldest of them had been due."""

    at: datetime
    seconds: float
    work: Work
    waiting: int | None
    oldest_seconds: float | None

    @property
    def per_second(self) -> float:
        """Jobs that ended for good, per second."""
        return self.work.ended / self.seconds if self.seconds else 0.0


@dataclass(frozen=True, slots=True)
class History:
    """Points in order of time, without gaps; the last one is still under way unless `until` was given."""

    points: list[Point]
    step: timedelta


class By(StrEnum):
    """What a breakdown has a row for."""

    QUEUE = "queue"
    TYPE = "type"
    PAIR = "pair"


@dataclass(frozen=True, slots=True)
class Share:
    """One row of a breakdown: a queue, a job type, or both. With neither: all that no row of its own is kept for."""

    queue: str | None
    job_type: str | None
    work: Work

    @property
    def is_other(self) -> bool:
        """Whether it is the rest."""
        return self.queue is None and self.job_type is None


@dataclass(frozen=True, slots=True)
class Depth:
    """What waits now of one job type in one queue; counts stop at `most`. history/read_depths.sql"""

    queue: str
    job_type: str
    ready: int
    scheduled: int
    oldest_seconds: float | None
    paused: bool
