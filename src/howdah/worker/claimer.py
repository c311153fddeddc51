"""Asks for work: when there are free slots, and there may be something to do.

There may be something to do when the bell rang, when the last claim came back full, when something
scheduled is due, and otherwise whenever the polling time has passed; four times that while every new job is known
to ring.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Sequence

from howdah.db.faults import is_busy
from howdah.db.link import Link
from howdah.runtime.backoff import Pauses
from howdah.runtime.wakeup import Wakeup
from howdah.telemetry.tally import Tally
from howdah.worker import store
from howdah.worker.held import AWAY_SECONDS
from howdah.worker.marks import Marks, Start
from howdah.worker.slots import Slots
from howdah.worker.store import ClaimedJob, Demand, Haul

logger = logging.getLogger("howdah.worker")
#: While this many ends wait to be written, claiming more would only add to what an outage holds up.
_BACKLOG_LIMIT = 5000
#: How much rarer polls are while the bell is heard.
_TRUSTING = 4
#: How long to claim carefully after somebody was in the way.
_CAREFUL_SECONDS = 1.0


class Claimer:
    """The one claimer of this process."""

    def __init__(
        self,
        link: Link,
        worker_id: str,
        job_types: Sequence[str],
        slots: Slots,
        take: Callable[[list[ClaimedJob]], None],
        backlog: Callable[[], int],
    ) -> None:
        self._link = link
        self._worker_id = worker_id
        self._job_types = job_types
        self._slots = slots
        self._take = take
        self._backlog = backlog
        self._tally = Tally()
        self._out_of_touch: Callable[[], bool] = lambda: False
        self._on_claimed: Callable[[], None] = lambda: None
        self._wakeup = Wakeup()
        self._marks = Marks()
        self._careful_until = 0.0
        self._rung = False
        self._trusts_bell = False
        self._waits_for_slot = False
        self._stopping = False
        self._due: float | None = None

    def wait_while(self, out_of_touch: Callable[[], bool]) -> None:
        """Claim nothing while nobody hears this worker."""
        self._out_of_touch = out_of_touch

    def count_in(self, tally: Tally) -> None:
        """Where to count how big claims are."""
        self._tally = tally

    def on_claimed(self, call: Callable[[], None]) -> None:
        """Call this whenever jobs were claimed."""
        self._on_claimed = call

    def ring(self) -> None:
        """There may be something to claim."""
        self._rung = True
        self._wakeup.ring()

    def trust(self, bell: bool) -> None:
        """Whether every new job rings: then polling is for what nobody expects, and may be rarer."""
        self._trusts_bell = bell

    def freed(self) -> None:
        """A slot is free."""
        if self._waits_for_slot:
            self._wakeup.ring()

    def due_in(self, seconds: float) -> None:
        """Something will be due then, and this worker knows it first: it has just put it off itself."""
        asyncio.get_running_loop().call_later(max(0.0, seconds), self.ring)

    def stop(self) -> None:
        """Claim no more. `run` returns at its next safe point: never inside a claim, which would strand its jobs."""
        self._stopping = True
        self._wakeup.ring()

    async def run(self, poll: float) -> None:
        """Claim until stopped."""
        pauses = Pauses()
        while not self._stopping:
            if self._out_of_touch():
                # What it claimed now could be taken for a dead worker's at once.
                await asyncio.sleep(AWAY_SECONDS)
                continue
            demand = self._slots.demand() if self._backlog() < _BACKLOG_LIMIT else None
            if demand is None:
                await self._sleep(poll)
                continue
            # A ring from here on may announce what this claim does not see any more: it counts for the next.
            self._rung = False
            try:
                haul = await self._claim(demand)
            except Exception as error:
                self._marks.forget()
                logger.debug("claim failed: %s", type(error).__name__)
                await asyncio.sleep(pauses.next())
                continue
            pauses.reset()
            if haul.jobs:
                self._tally.claims.add(len(haul.jobs))
            self._due = haul.due
            self._take(haul.jobs)
            if haul.jobs:
                self._on_claimed()
            self._slots.answered(demand, haul)

    async def _claim(self, demand: Demand) -> Haul:
        if time.monotonic() >= self._careful_until:
            start, place = self._marks.choose()
            try:
                haul = await self._link.perform(store.claim(self._worker_id, self._job_types, demand, place))
            except Exception as error:
                if not is_busy(error):
                    raise
                # Somebody has locked a job that is next in line, or a line row is surplus. Nothing was claimed.
                self._marks.forget()
                self._careful_until = time.monotonic() + _CAREFUL_SECONDS
            else:
                self._marks.learn(start, haul)
                # Nothing more behind the near marks: there may be before them, so look again before lying down.
                return haul._replace(more=True) if start is Start.NEAR else haul
        return await self._link.perform(store.claim_carefully(self._worker_id, self._job_types, demand))

    async def _sleep(self, poll: float) -> None:
        self._waits_for_slot = self._slots.hungry
        if not self._rung:
            woken = await self._wakeup.wait(self._patience(poll))
            self._rung = self._rung or not woken
        self._waits_for_slot = False
        if self._rung:
            self._rung = False
            self._slots.stir()

    def _patience(self, poll: float) -> float:
        # Jitter, so that idle workers do not all ask at the same moment; never longer than the polling time.
        patience = poll * random.uniform(0.7, 1.0)  # noqa: S311 - spreads polls
        if self._trusts_bell:
            patience *= _TRUSTING
        due, self._due = self._due, None
        # Not shorter: what is due may be held by somebody else, and asking at once would be asking in a circle.
        return patience if due is None else min(patience, max(0.02, due))
