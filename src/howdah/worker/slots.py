"""Who may start, and how many more to claim: decided purely, done elsewhere.

Each pool has `limit` slots. Queues with a number of their own have a pool of their own; all others share one. Besides what
runs, a pool buffers what it will get through in about 50 ms, so that a flood goes in big batches while a job of higher
priority never waits behind more than that.

Suspects (jobs that a worker has died holding) start one at a time: if one of them is poison, the others are not running
when it strikes and are not charged for it. A suspect that has run for ten seconds without harm no longer keeps the next
one from starting: a long job must not hold up the rest.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass, field
from datetime import datetime

from howdah.worker.held import Held
from howdah.worker.store import Demand

PREFETCH_SECONDS = 0.05
LARGEST_BATCH = 1000
_RATE_WINDOW = 0.05
SUSPECT_SECONDS = 10.0

_Key = tuple[int, datetime, int]


@dataclass(slots=True)
class Pool:
    """Slots that some queues share."""

    queues: list[str]
    limit: int
    running: int = 0
    waiting: list[tuple[_Key, Held]] = field(default_factory=list)
    aside: list[Held] = field(default_factory=list)
    finished: int = 0
    rate: float = 0.0
    measured: float = field(default_factory=time.monotonic)

    def prefetch(self) -> int:
        """How many may wait here: what the pool gets through in 50 ms at its present rate."""
        return min(int(self.rate * PREFETCH_SECONDS), LARGEST_BATCH)

    def wanted(self) -> int:
        """How many more to claim now."""
        return max(0, self.limit + self.prefetch() - self.running - len(self.waiting) - len(self.aside))

    def worth_asking(self) -> bool:
        """Whether a claim would be more than a trickle: a lone free slot of a slow pool counts, of a flood not."""
        return self.wanted() >= max(1, self.prefetch() // 2)

    def measure(self) -> None:
        """Renew the rate from what finished since the last time."""
        now = time.monotonic()
        passed = now - self.measured
        if passed >= _RATE_WINDOW:
            fresh = self.finished / passed
            self.rate = fresh if fresh > self.rate else 0.5 * (self.rate + fresh)
            self.finished = 0
            self.measured = now


class Slots:
    """All pools of a worker."""

    def __init__(self, pools: list[Pool]) -> None:
        self._pools = pools
        self._pool_of = {queue: pool for pool in pools for queue in pool.queues}
        self._watched: Held | None = None

    @property
    def running(self) -> int:
        """Slots in use."""
        return sum(pool.running for pool in self._pools)

    def admit(self, many: list[Held]) -> None:
        """Jobs that were just claimed wait here for a slot."""
        for held in many:
            self._wait(held)

    def start_next(self) -> Held | None:
        """The best job that may start now; its slot is taken."""
        best: Pool | None = None
        for pool in self._pools:
            self._sort_out_suspects(pool)
            free = pool.waiting and pool.running < pool.limit
            if free and (best is None or pool.waiting[0][0] < best.waiting[0][0]):
                best = pool
        if best is None:
            return None
        held = heapq.heappop(best.waiting)[1]
        best.running += 1
        if held.suspect:
            self._watched = held
        return held

    def free(self, held: Held) -> None:
        """The job's slot is free again."""
        pool = self._pool_of[held.job.queue]
        pool.running -= 1
        pool.finished += 1
        if self._watched is held:
            self._watched = None

    def take_waiting(self) -> list[Held]:
        """Everything that has not started; the pools wait for nothing any more."""
        waiting = [held for pool in self._pools for _, held in pool.waiting]
        for pool in self._pools:
            waiting += pool.aside
            pool.waiting.clear()
            pool.aside.clear()
        return waiting

    def demand(self) -> Demand | None:
        """What to claim now, or None when every pool has enough."""
        for pool in self._pools:
            pool.measure()
        if not any(pool.worth_asking() for pool in self._pools):
            return None
        if len(self._pools) == 1:
            pool = self._pools[0]
            return Demand(min(pool.wanted(), LARGEST_BATCH), pool.queues)
        asking = [
            (queue, pool.wanted(), number)
            for number, pool in enumerate(self._pools)
            for queue in pool.queues
            if pool.wanted()
        ]
        batch = min(sum(pool.wanted() for pool in self._pools), LARGEST_BATCH)
        return Demand(batch, [a[0] for a in asking], [a[1] for a in asking], [a[2] for a in asking])

    def _sort_out_suspects(self, pool: Pool) -> None:
        watched = self._watched
        if watched is None or watched.ran() >= SUSPECT_SECONDS:
            for held in pool.aside:
                self._wait(held)
            pool.aside.clear()
            return
        while pool.waiting and pool.waiting[0][1].suspect:
            pool.aside.append(heapq.heappop(pool.waiting)[1])

    def _wait(self, held: Held) -> None:
        job = held.job
        key = (-job.priority, job.created_at, job.id.int)
        heapq.heappush(self._pool_of[job.queue].waiting, (key, held))


def make_pools(queues: dict[str, int | None], concurrency: int) -> list[Pool]:
    """A pool for each queue with a number of its own, and one for all others."""
    pools = [Pool([queue], own) for queue, own in queues.items() if own is not None]
    shared = [queue for queue, own in queues.items() if own is None]
    if shared:
        pools.append(Pool(shared, concurrency))
    return pools
