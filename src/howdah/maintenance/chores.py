"""The chores that any worker does now and then. None needs a leader: each statement is guarded, and doing it twice at
once is the same as once."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from howdah.db.faults import is_busy, is_forbidden, is_transient
from howdah.db.link import Link
from howdah.maintenance import store
from howdah.telemetry.tally import Tally

logger = logging.getLogger("howdah.maintenance")
PARTITION_SECONDS = 60.0
SWEEP_EVERY = timedelta(minutes=10)
#: Less than the chores' own pace, so that a lone worker looks every time.
SAMPLE_EVERY = timedelta(seconds=40)
_DELETE_AT_ONCE = 2000
# Between two deletions, so that they never take the server for themselves.
_BREATH = 0.2
_RECOVERY_SECONDS = 3.0


class Chores:
    """Rescue every third of the silence; partitions every minute; retention, and a look at what waits, when it is this
    worker's turn."""

    def __init__(self, link: Link, silence: float, on_rescue: Callable[[], None], tally: Tally | None = None) -> None:
        self._link = link
        self._one_at_a_time = asyncio.Lock()
        self._rescue_seconds = max(0.05, silence / 3)
        self._on_rescue = on_rescue
        self._tally = tally or Tally()
        self._shaken = False
        self._last_look = time.monotonic()
        self._wait_until = 0.0
        self._told: set[str] = set()

    async def run(self) -> None:
        """Do the chores until cancelled."""
        await asyncio.gather(
            self._repeat(self.rescue, self._rescue_seconds),
            self._repeat(self.make_partitions, PARTITION_SECONDS),
            self._repeat(self.look_after_retention, PARTITION_SECONDS),
        )

    async def rescue(self) -> None:
        """Take back what silent workers hold.

        Not right after an outage, or after this process was stopped: the others were cut off as well, and need a moment
        to be heard again.
        """
        now = time.monotonic()
        if self._shaken or now - self._last_look > 2 * self._rescue_seconds + 5:
            await self._link.perform(store.look())
            self._shaken = False
            self._wait_until = now + max(_RECOVERY_SECONDS, self._rescue_seconds)
        self._last_look = now
        if now < self._wait_until:
            return
        rescued = await self._link.perform(store.rescue())
        for job in rescued:
            logger.warning(
                "job of a silent worker is now %s",
                job.status,
                extra={"job_id": str(job.job_id), "deaths": job.deaths, "silent_worker": job.worker_id},
            )
        if rescued:
            self._on_rescue()
            for kind, count in await self._link.perform(store.note_rescues(rescued)):
                self._tally.note_rescued(kind, count)

    async def make_partitions(self) -> None:
        """Make partitions ahead of time."""
        while await self._link.perform(store.create_next_partition()):
            pass

    async def look_after_retention(self) -> None:
        """When it is this worker's turn, drop and delete what is past its retention; and look at what waits."""
        await self._link.perform(store.sweep_late())
        turn = await self._link.perform(store.begin_turn(SWEEP_EVERY, SAMPLE_EVERY))
        if turn.sample:
            await self.look_at_queues()
        if turn.sweep:
            await self.sweep()

    async def look_at_queues(self) -> None:
        """Write down how much waits; if that fails, what else there is to do goes on."""
        try:
            await self._link.perform(store.sample_queues())
        except Exception as error:
            logger.debug("look at what waits put off: %s", type(error).__name__)

    async def sweep(self) -> None:
        """Drop partitions past their retention, and delete row by row what cannot be dropped whole."""
        while (dropped := await self._link.perform(store.drop_expired_partition())) is not None:
            logger.info("dropped partition %s: all its jobs are past their retention", dropped)
        deleted = _DELETE_AT_ONCE
        while deleted == _DELETE_AT_ONCE:
            deleted = await self._link.perform(store.delete_expired_jobs(_DELETE_AT_ONCE))
            await asyncio.sleep(_BREATH)
        await self._link.perform(store.sweep_lanes())
        await self._link.perform(store.prune_stats())
        # Some thousands a turn: more than is ever written between two turns.
        await self._link.perform(store.sweep_audit())

    async def _repeat(self, chore: Callable[[], Awaitable[None]], seconds: float) -> None:
        while True:
            async with self._telling(getattr(chore, "__name__", "chore")):
                await chore()
            # Jitter: workers that started together must not do every chore together.
            await asyncio.sleep(seconds * random.uniform(0.7, 1.1))  # noqa: S311 - spreads chores

    @asynccontextmanager
    async def _telling(self, what: str) -> AsyncIterator[None]:
        try:
            # On a connection of their own, kept: to connect anew for each cost a server with fifty idle workers more
            # than all that they ask of it.
            async with self._one_at_a_time:
                yield
        except Exception as error:
            # A lock that was busy, or an outage, which the link tells: the next round does it.
            self._shaken = self._shaken or (is_transient(error) and not is_busy(error))
            if is_forbidden(error) and what not in self._told:
                self._told.add(what)
                logger.warning(
                    "this role has no right to %s; another worker or `howdah migrate`'s role must do it", what
                )
            logger.debug("%s put off: %s", what, type(error).__name__)
