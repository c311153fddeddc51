"""What one worker has done since it started: counters that cost a batch of jobs a few microseconds.

Written by the event loop, and by the pulse's thread for jobs that it finds running; each call takes a lock once for a
whole batch. The number of series is bounded: users name job types and queues, and may name a queue after each customer.
"""

from __future__ import annotations

import math
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from howdah.telemetry.histogram import BUCKETS, bucket_of, trimmed

#: A job type and its queue, in the order of a claimed row.
Kind = tuple[str, str]
OUTCOMES = ("completed", "failed", "cancelled", "retried", "snoozed", "released")
#: Series of its own for so many pairs; the rest is counted together, under no name.
MOST_SERIES = 100
NAMELESS: Kind = ("", "")
#: Sizes of batches.
SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
#: Of a batch as big as that, every so manieth is timed and counts for so many: it is a flood, and others follow.
FLOOD, STRIDE = 256, 5
#: No job waits or runs longer than this for a sum: one with an infinite time would make every sum infinite.
_LONGEST = 1e7


class Series:
    """The counts of one job type in one queue."""

    __slots__ = (*OUTCOMES, "ran", "ran_seconds", "rescued", "started", "waited", "waited_seconds")

    def __init__(self) -> None:
        self.started = self.rescued = 0
        self.completed = self.failed = self.cancelled = self.retried = self.snoozed = self.released = 0
        self.ran = [0] * BUCKETS
        self.waited = [0] * BUCKETS
        self.ran_seconds = self.waited_seconds = 0.0

    def copy(self) -> Series:
        """As it stands."""
        twin = Series()
        for name in self.__slots__:
            value = getattr(self, name)
            setattr(twin, name, list(value) if isinstance(value, list) else value)
        return twin

    def since(self, old: Series) -> dict[str, object]:
        """What was added since then, as record_stats takes it; empty when nothing was. Not the rescues: whoever
        rescues writes that down at once."""
        changed: dict[str, object] = {}
        for name in ("started", *OUTCOMES, "ran_seconds", "waited_seconds"):
            if difference := getattr(self, name) - getattr(old, name):
                changed[name] = difference
        for name in ("ran", "waited"):
            if difference := trimmed(map(int.__sub__, getattr(self, name), getattr(old, name))):
                changed[name] = difference
        return changed


class Sizes:
    """How big batches were, or how long something took: counts by bucket, and their sum."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def add(self, value: float) -> None:
        """One more."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value


class Tally:
    """All counters of one worker."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._series: dict[Kind, Series] = {}
        self._written: dict[Kind, Series] = {}
        self.claims = Sizes(SIZES)
        self.acks = Sizes(SIZES)
        #: How late the event loop was, looked at twice a second.
        self.lag = Sizes((0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10))
        self.last_lag = 0.0

    def note_started(self, kind: Kind, waits: Sequence[float], count: int | None = None) -> None:
        """Jobs whose handlers have started, and for how long each had been due; `count`: so many, of which these were
        timed."""
        with self._lock:
            series = self._of(kind)
            series.started += len(waits) if count is None else count
            series.waited_seconds += _put(series.waited, waits, count)

    def note_completed(self, kind: Kind, ran: Sequence[float], count: int | None = None) -> None:
        """Jobs that were acknowledged as completed, and how long each had run; `count`: as above."""
        with self._lock:
            series = self._of(kind)
            series.completed += len(ran) if count is None else count
            series.ran_seconds += _put(series.ran, ran, count)

    def note_ended(self, kind: Kind, outcome: str, ran: float | None) -> None:
        """A claim that was acknowledged as ended otherwise; `ran`: how long, if that is of interest."""
        with self._lock:
            series = self._of(kind)
            setattr(series, outcome, getattr(series, outcome) + 1)
            if ran is not None:
                series.ran_seconds += _put(series.ran, [ran])

    def note_rescued(self, kind: Kind, count: int) -> None:
        """Jobs that this worker took back from silent ones."""
        with self._lock:
            self._of(kind).rescued += count

    def note_lag(self, seconds: float) -> None:
        """How late the event loop was."""
        self.last_lag = seconds
        self.lag.add(seconds)

    def copy(self) -> dict[Kind, Series]:
        """Every series as it stands."""
        with self._lock:
            return {kind: series.copy() for kind, series in self._series.items()}

    def changes(self) -> tuple[list[dict[str, object]], dict[Kind, Series]]:
        """What is to be written since the last time that was confirmed, and what to confirm it with."""
        now = self.copy()
        rows = []
        for kind, series in now.items():
            if changed := series.since(self._written.get(kind, _NOTHING)):
                rows.append({"job_type": kind[0], "queue": kind[1], **changed})
        return rows, now

    def confirm(self, written: dict[Kind, Series]) -> None:
        """That is in the database now."""
        self._written = written

    def _of(self, kind: Kind) -> Series:
        series = self._series.get(kind)
        if series is None:
            if len(self._series) >= MOST_SERIES:
                kind = NAMELESS
            series = self._series.setdefault(kind, Series())
        return series


_NOTHING = Series()


def _put(counts: list[int], durations: Sequence[float], count: int | None = None) -> float:
    """Count each in its bucket; their sum. `count`: they stand for so many."""
    found = Counter(map(bucket_of, durations))
    total = sum(durations)
    if not 0 <= total < _LONGEST:
        # A clock that went back, or a job created at the beginning of time.
        total = sum(min(max(0.0, one), _LONGEST) for one in durations if not math.isnan(one))
    if count is not None and durations:
        total *= count / len(durations)
        stride, rest = divmod(count, len(durations))
        found = Counter({bucket: stride * many for bucket, many in found.items()})
        found[bucket_of(durations[-1])] += rest
    for bucket, many in found.items():
        counts[bucket] += many
    return total
