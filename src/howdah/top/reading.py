"""Reads what the view shows, on one connection, bit by bit.

Running jobs are read every second, the rest in turn, each every few seconds. Every part is a read-only transaction of
its own with a time limit: what takes too long is left out and said so, and the others are shown. A part that took long
is left alone for nine times as long as it took, so that a slow server is asked less.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from howdah.admin import store
from howdah.admin.filters import JobFilter
from howdah.admin.history import reading as history
from howdah.admin.history import store as history_store
from howdah.admin.history.views import By, Depth, Share
from howdah.admin.listing import Budget, list_jobs
from howdah.admin.views import JobLine, PauseKind, WorkerLine
from howdah.app import Howdah
from howdah.db.bounded_pool import BoundedPool
from howdah.db.op import Operation
from howdah.model.errors import TookTooLong
from howdah.model.status import Status
from howdah.top.turns import REST, Turns

T = TypeVar("T")
LIMIT = timedelta(seconds=1)
CHANGE_LIMIT = timedelta(seconds=10)
#: What a person can look at; more running jobs than this are counted and not listed.
MOST_JOBS, MOST_FAILURES = 200, 50
_BUDGET = Budget(look=10_000, seconds=0.2)
_HELD = (Status.CLAIMED, Status.RUNNING)
_MINUTE = timedelta(minutes=1)
CHART_MINUTES = 20


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was last read of everything. `problems`: the parts that could not be read in time, and why."""

    offset: timedelta = timedelta(0)
    running: list[JobLine] = field(default_factory=list)
    failures: list[JobLine] = field(default_factory=list)
    workers: list[WorkerLine] = field(default_factory=list)
    depths: list[Depth] = field(default_factory=list)
    paused_queues: frozenset[str] = frozenset()
    shares: list[Share] = field(default_factory=list)
    share_seconds: float = 60.0
    chart: list[float] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)

    @property
    def now(self) -> datetime:
        """The time by the server's clock: ages are told by the clock that wrote them."""
        return datetime.now(UTC) + self.offset


class Source:
    """The one reader. `wanted`: which jobs are of interest, apart from their status."""

    def __init__(self, app: Howdah) -> None:
        # A second connection is opened only while an order waits for a look to end.
        self._pool = BoundedPool(app.sessions, "top", 2)
        self._parts = {
            "running": self._running,
            "queues": self._queues,
            "workers": self._workers,
            "failures": self._failures,
        }
        self._turns = Turns(list(self._parts))
        self.snapshot = Snapshot()
        self.wanted = JobFilter()

    async def look(self) -> float:
        """Read what is due; the seconds to rest before the next. Raises HowdahError when the database is away."""
        for name in self._turns.next(time.monotonic()):
            began = time.monotonic()
            await self._part(name, self._parts[name])
            self._turns.done(name, began, time.monotonic())
        return REST

    def look_again(self) -> None:
        """Read everything at the next look."""
        self._turns.all_over()

    async def read(self, make: Callable[[], Operation[T]]) -> T:
        """Read something else, for a dialogue."""
        return await self._pool.look(make, LIMIT)

    async def change(self, make: Callable[[], Operation[T]]) -> T:
        """Carry out an order."""
        return await self._pool.change(make, CHANGE_LIMIT)

    async def close(self) -> None:
        """Give back the connections."""
        await self._pool.close()

    async def _part(self, name: str, make: Callable[[], Operation[dict[str, Any]]]) -> None:
        problems = {key: value for key, value in self.snapshot.problems.items() if key != name}
        try:
            found = await self._pool.look(make, LIMIT)
        except TookTooLong:
            found, problems[name] = {}, f"not read: it takes longer than {LIMIT.total_seconds():g} s"
        self.snapshot = replace(self.snapshot, problems=problems, **found)

    def _running(self) -> Operation[dict[str, Any]]:
        wanted = self._of(_HELD)
        page = (yield from list_jobs(wanted, None, MOST_JOBS, _BUDGET)) if wanted is not None else None
        return {"running": page.jobs if page is not None else []}

    def _failures(self) -> Operation[dict[str, Any]]:
        wanted = self._of((Status.FAILED,))
        page = (yield from list_jobs(wanted, None, MOST_FAILURES, _BUDGET)) if wanted is not None else None
        return {"failures": page.jobs if page is not None else []}

    def _workers(self) -> Operation[dict[str, Any]]:
        now = yield from store.read_clock()
        offset = now - datetime.now(UTC)
        return {"workers": (yield from store.list_workers()), "offset": offset}

    def _queues(self) -> Operation[dict[str, Any]]:
        depths = yield from history_store.read_depths()
        pauses = yield from store.list_pauses()
        shares = yield from history.breakdown(2 * _MINUTE, By.QUEUE)
        chart = yield from history.series(CHART_MINUTES * _MINUTE, points=CHART_MINUTES)
        now = self.snapshot.now
        return {
            "depths": depths,
            "paused_queues": frozenset(pause.name for pause in pauses if pause.kind is PauseKind.QUEUE),
            "shares": shares,
            # Of two minutes, the history has the one before this and what has passed of this.
            "share_seconds": 60.0 + now.second,
            "chart": [point.per_second for point in chart.points],
        }

    def _of(self, statuses: tuple[Status, ...]) -> JobFilter | None:
        """The filter for jobs that stand so; None: it wants none of those."""
        fit = tuple(status for status in self.wanted.statuses or statuses if status in statuses)
        return replace(self.wanted, statuses=fit) if fit else None
