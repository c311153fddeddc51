"""Who may start, and how many more to claim: decided purely, done elsewhere.

Each pool has `limit` slots. Queues with a number of their own have a pool of their own; all others share
one. Besides what runs, a pool buffers what it will get through in about 50 ms, so that a flood goes in big
batches while a job of higher priority never waits behind more than that.

Suspects are jobs that a worker has died holding; one of them may be the reason. After one death a few of them
start together, and the next few a moment later, long enough for most poison to strike while only a few have
been started since. After a second death a suspect starts only when no other suspect is in its first ten
seconds: if it kills again, it is charged, and the others are not. So the many jobs of a worker that merely
crashed are soon under way again, and the few that crashed twice are told apart.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from howdah.worker.held import Held
from howdah.worker.store import Demand, Haul

PREFETCH_SECONDS = 0.05
LARGEST_BATCH = 1000
LARGEST_BUFFER = 5000
_RATE_WINDOW = 0.05
FIRST_SUSPICION_SECONDS = 0.1
SECOND_SUSPICION_SECONDS = 10.0
#: How many suspects of one death may be in their first moment at a time. One alone made 10 a second: where workers were
#: killed every few seconds, what they left behind was more than that, and grew (docs/reliability.md).
SUSPECTS_TOGETHER = 8
#: How long a claimed job may wait here for a slot before it is given back; suspects wait for each other by design.
PATIENCE = 1.0
SUSPECT_PATIENCE = 30.0

_Key = tuple[int, float, bytes]
#: What waits, worst first, so that the best is popped from the end.
_Line = list[tuple[_Key, Held]]


@dataclass(slots=True)
class Pool:
    """Slots that some queues share."""

    queues: list[str]
    limit: int
    running: int = 0
    waiting: _Line = field(default_factory=list)
    suspects: _Line = field(default_factory=list)
    #: Whether there may be something to claim for it: the bell rang, or the last claim gave all that was asked for.
    hungry: bool = True
    asked: int = 0
    finished: int = 0
    rate: float = 0.0
    measured: float = field(default_factory=time.monotonic)

    def prefetch(self) -> int:
        """How many may wait here: what the pool gets through in 50 ms at its present rate."""
        return min(int(self.rate * PREFETCH_SECONDS), LARGEST_BUFFER)

    def wanted(self) -> int:
        """How many more to claim now. Suspects that wait for each other, as many as there are slots, do not count: what
        a crash left behind must not keep a worker with free slots from everything else."""
        held_up = max(0, len(self.suspects) - self.limit)
        return max(0, self.limit + self.prefetch() - self.running - len(self.waiting) - held_up)

    def worth_asking(self) -> bool:
        """Whether a claim would be more than a trickle: a lone free slot of a slow pool counts, of a flood not."""
        return self.hungry and self.wanted() >= max(1, min(self.prefetch(), LARGEST_BATCH) // 2)

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
        self._suspects_running: list[Held] = []
        #: Most workers have one pool, and then the best is simply its first.
        self._only = pools[0] if len(pools) == 1 else None

    @property
    def running(self) -> int:
        """Slots in use."""
        return sum(pool.running for pool in self._pools)

    @property
    def limit(self) -> int:
        """Slots there are."""
        return sum(pool.limit for pool in self._pools)

    @property
    def waiting(self) -> int:
        """Jobs that wait here for a slot."""
        return sum(len(pool.waiting) + len(pool.suspects) for pool in self._pools)

    @property
    def buffered(self) -> bool:
        """Whether jobs wait here that will be through in a moment."""
        return any(len(pool.waiting) > 0 and pool.rate > 0 for pool in self._pools)

    def admit(self, many: list[Held]) -> None:
        """Jobs that were just claimed wait here for a slot."""
        grown: dict[int, _Line] = {}
        for held in many:
            job = held.job
            pool = self._pool_of[job.queue]
            line = pool.suspects if job.deaths else pool.waiting
            line.append(((-job.priority, job.created_at, job.id), held))
            grown[id(line)] = line
        for line in grown.values():
            # Two runs, what waited and what came: sorting merges them.
            line.sort(reverse=True)

    @property
    def startable(self) -> bool:
        """Whether something waits and has a slot. A suspect may still have to wait for another."""
        return any(pool.running < pool.limit and (pool.waiting or pool.suspects) for pool in self._pools)

    def start_next(self) -> Held | None:
        """The best job that may start now; its slot is taken."""
        only = self._only
        if only is not None and not only.suspects:
            if not only.waiting or only.running >= only.limit:
                return None
            only.running += 1
            return only.waiting.pop()[1]
        best: tuple[_Key, Pool, _Line] | None = None
        for pool in self._pools:
            if pool.running >= pool.limit:
                continue
            for line in (pool.waiting, pool.suspects):
                if line and (best is None or line[-1][0] < best[0]) and self._may_start(line[-1][1]):
                    best = (line[-1][0], pool, line)
        if best is None:
            return None
        _, pool, line = best
        held = line.pop()[1]
        pool.running += 1
        if held.suspect:
            self._suspects_running.append(held)
        return held

    def free(self, held: Held) -> None:
        """The job's slot is free again."""
        pool = self._pool_of[held.job.queue]
        pool.running -= 1
        pool.finished += 1
        if held.job.deaths:
            self._suspects_running.remove(held)

    def serves(self, queue: str) -> bool:
        """Whether this worker has a pool for that queue."""
        return queue in self._pool_of

    def take_interrupted(self) -> list[Held]:
        """What was cancelled or lost while it waited."""
        return self._take(lambda held: held.stop is not None)

    def take_overdue(self) -> list[Held]:
        """What has waited longer than a worker should keep a job that it does not run. The pool has slowed down: it
        claims no more in advance until it has shown its new pace."""
        now = time.monotonic()
        taken = self._take(lambda held: now - held.admitted > (SUSPECT_PATIENCE if held.suspect else PATIENCE))
        for held in taken:
            self._pool_of[held.job.queue].rate = 0.0
        return taken

    def _take(self, wanted: Callable[[Held], bool]) -> list[Held]:
        taken: list[Held] = []
        for pool in self._pools:
            for line in (pool.waiting, pool.suspects):
                if any(wanted(held) for _, held in line):
                    taken += [held for _, held in line if wanted(held)]
                    line[:] = [entry for entry in line if not wanted(entry[1])]
        return taken

    def take_waiting(self) -> list[Held]:
        """Everything that has not started; the pools wait for nothing any more."""
        waiting = [held for pool in self._pools for _, held in [*pool.waiting, *pool.suspects]]
        for pool in self._pools:
            pool.waiting.clear()
            pool.suspects.clear()
        return waiting

    def next_suspect_in(self) -> float | None:
        """Seconds until a suspect that waits might start; None when none waits."""
        if not any(pool.suspects for pool in self._pools):
            return None
        return FIRST_SUSPICION_SECONDS

    @property
    def hungry(self) -> bool:
        """Whether a free slot would be a reason to claim."""
        return any(pool.hungry for pool in self._pools)

    def stir(self) -> None:
        """There may be something to claim for every pool."""
        for pool in self._pools:
            pool.hungry = True

    def answered(self, demand: Demand, haul: Haul) -> None:
        """A claim came back: pools that got less than they asked for have no more to ask until stirred."""
        if self._only is not None:
            self._only.hungry = haul.more
            return
        got = Counter(id(self._pool_of[job.queue]) for job in haul.jobs)
        for pool in {id(self._pool_of[queue]): self._pool_of[queue] for queue in demand.queues}.values():
            pool.hungry = haul.more or got[id(pool)] >= pool.asked

    def demand(self) -> Demand | None:
        """What to claim now, or None when every pool has enough or nothing to hope for."""
        for pool in self._pools:
            pool.measure()
        if not any(pool.worth_asking() for pool in self._pools):
            return None
        for pool in self._pools:
            pool.asked = pool.wanted()
        if len(self._pools) == 1:
            pool = self._pools[0]
            return Demand(min(pool.asked, LARGEST_BATCH), pool.queues)
        asking = [
            (queue, pool.asked, number)
            for number, pool in enumerate(self._pools)
            for queue in pool.queues
            if pool.asked
        ]
        batch = min(sum(pool.asked for pool in self._pools), LARGEST_BATCH)
        return Demand(batch, [a[0] for a in asking], [a[1] for a in asking], [a[2] for a in asking])

    def _may_start(self, held: Held) -> bool:
        if not held.suspect:
            return True
        fresh = [running for running in self._suspects_running if running.ran() < _apart(held, running)]
        if held.job.deaths > 1 or any(running.job.deaths > 1 for running in fresh):
            return not fresh
        return len(fresh) < SUSPECTS_TOGETHER


def _apart(one: Held, other: Held) -> float:
    return SECOND_SUSPICION_SECONDS if max(one.job.deaths, other.job.deaths) > 1 else FIRST_SUSPICION_SECONDS


def make_pools(queues: dict[str, int | None], concurrency: int) -> list[Pool]:
    """A pool for each queue with a number of its own, and one for all others."""
    pools = [Pool([queue], own) for queue, own in queues.items() if own is not None]
    shared = [queue for queue, own in queues.items() if own is None]
    if shared:
        pools.append(Pool(shared, concurrency))
    return pools
