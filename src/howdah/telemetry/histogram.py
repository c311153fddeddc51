"""Durations in buckets, five to a factor of ten: fine enough that a percentile is off by a quarter at most, and few
enough to be kept for every minute.

The bounds are part of the tables (migration 0018): changing them would make old rows mean something else.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

#: Upper bounds in seconds, inclusive, 0.1 ms to 100,000 s; what took longer is in one more bucket behind them.
BOUNDS: tuple[float, ...] = (
    *(float(f"{step}e{power}") for power in range(-4, 5) for step in ("1", "1.6", "2.5", "4", "6.3")),
    1e5,
)
BUCKETS = len(BOUNDS) + 1

#: The bucket of a duration. Whatever a clock says, it is one of them: less than nothing is the first.
bucket_of = partial(bisect_left, BOUNDS)


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many durations were in which bucket; trailing zeros may be left out. `seconds` is their sum."""

    counts: tuple[int, ...] = ()
    seconds: float = 0.0

    @property
    def count(self) -> int:
        """How many durations."""
        return sum(self.counts)

    @property
    def mean(self) -> float | None:
        """Their mean in seconds; None of none."""
        return self.seconds / self.count if self.count else None

    def percentile(self, percent: float) -> float | None:
        """The duration that so many percent of them do not exceed, as near as the buckets tell; None of none."""
        total = self.count
        if not total:
            return None
        wanted, below = total * percent / 100, 0
        for place, count in enumerate(self.counts):
            if count and below + count >= wanted:
                return _within(place, (wanted - below) / count)
            below += count
        return BOUNDS[-1]

    def plus(self, other: Histogram) -> Histogram:
        """Both together."""
        return Histogram(tuple(add(self.counts, other.counts)), self.seconds + other.seconds)

    def less(self, other: Histogram) -> Histogram:
        """This without the other, which is a part of it; never less than nothing."""
        counts = add(self.counts, [-count for count in other.counts])
        return Histogram(tuple(max(0, count) for count in counts), max(0.0, self.seconds - other.seconds))


def _within(place: int, share: float) -> float:
    """Where in a bucket, as if its durations lay evenly on the scale of the bounds."""
    if place >= len(BOUNDS):
        return BOUNDS[-1]
    if place == 0:
        return BOUNDS[0] * share
    low, high = BOUNDS[place - 1], BOUNDS[place]
    return float(low * (high / low) ** share)


def add(one: Sequence[int], other: Sequence[int]) -> list[int]:
    """Item by item; where one is longer, the rest of it."""
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    return [*map(int.__add__, longer, shorter), *longer[len(shorter) :]]


def trimmed(counts: Iterable[int]) -> list[int]:
    """Without the zeros at its end."""
    kept = list(counts)
    while kept and not kept[-1]:
        kept.pop()
    return kept
