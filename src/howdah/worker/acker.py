"""Tells the database how claims ended, in batches.

While one write is under way the next batch gathers, so a lone job is acknowledged at once and a flood, of which
more is known to come, in big batches. A finished job is kept, and its lease alive, until the database has taken
its end: after an outage nothing has to run again. If the values of one job are refused, the batch falls back to
single rows, so that one bad row never blocks its neighbours; a job that somebody has locked is set aside until it is
free.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from howdah.db.faults import is_busy, is_data_error
from howdah.db.link import Link
from howdah.runtime.backoff import Pauses
from howdah.telemetry.tally import Tally
from howdah.worker import store
from howdah.worker.counting import Counting
from howdah.worker.held import Held, Holdings
from howdah.worker.journal import Journal
from howdah.worker.reports import gather
from howdah.worker.seals import Seals
from howdah.worker.store import Completion, Ending

logger = logging.getLogger("howdah.worker")
_LARGEST_BATCH = 1000
#: In a flood, fewer than this wait a moment for company: a statement costs as much as 50 jobs in it.
_WORTH_WRITING = 500
_GATHER_SECONDS = 0.004
#: How often to ask whether a job that somebody has locked is free again.
_BUSY_SECONDS = 0.5
_UNSTORABLE = "its end could not be stored"


@dataclass(slots=True)
class _Batch:
    """Ended jobs whose ends are being written; what has been written is taken out, so that a repetition is safe."""

    held: list[Held] = field(default_factory=list)
    done: list[Completion] = field(default_factory=list)
    other: list[Ending] = field(default_factory=list)
    claims: list[int] = field(default_factory=list)


class Acker:
    """The one writer of ends in this process."""

    def __init__(
        self,
        link: Link,
        holdings: Holdings,
        on_retry: Callable[[float], None],
        expects_more: Callable[[], bool],
        seals: Seals,
        counting: Counting | None = None,
        on_written: Callable[[], None] = lambda: None,
    ) -> None:
        self._link = link
        self._holdings = holdings
        self._on_retry = on_retry
        self._expects_more = expects_more
        self._seals = seals
        self._on_written = on_written
        self._journal = Journal()
        self._counting = counting or Counting(Tally())
        self._postponed: list[Held] = []
        self._waiting_for_locks: set[asyncio.Task[None]] = set()
        self._waiting: list[tuple[Held, Completion | Ending | None]] = []
        self._more = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self.accepted = 0
        self.refused = 0

    @property
    def backlog(self) -> int:
        """Ends that wait to be written."""
        return len(self._waiting)

    def put(self, held: Held, end: Completion | Ending | None) -> None:
        """The job has ended so; None: it was lost, and only its claim is to be closed."""
        if not self._waiting:
            self._idle.clear()
            self._more.set()
        self._waiting.append((held, end))

    async def drained(self) -> None:
        """Wait until everything is written."""
        await self._idle.wait()

    async def run(self) -> None:
        """Write batch after batch, until cancelled."""
        while True:
            await self._more.wait()
            if self._expects_more() and len(self._waiting) < _WORTH_WRITING:
                await asyncio.sleep(_GATHER_SECONDS)
            batch = self._next_batch()
            await self._write_until_done(batch)
            self._on_written()
            if not self._waiting:
                self._more.clear()
                if not self._postponed:
                    self._idle.set()

    def _next_batch(self) -> _Batch:
        taken, self._waiting = self._waiting[:_LARGEST_BATCH], self._waiting[_LARGEST_BATCH:]
        self._counting.tally.acks.add(len(taken))
        batch = _Batch([held for held, _ in taken])
        batch.done = [end for _, end in taken if type(end) is Completion]
        if len(batch.done) < len(taken):
            batch.other = [end for _, end in taken if isinstance(end, Ending)]
        batch.claims = self._holdings.empties(batch.held)
        return batch

    async def _write_until_done(self, batch: _Batch) -> None:
        pauses = Pauses()
        while True:
            try:
                await self._write(batch)
                break
            except Exception as error:
                if is_data_error(error):
                    await self._write_one_by_one(batch, pauses)
                    return
                if is_busy(error) and await self._set_locked_aside(batch):
                    continue
                # Whatever it is, giving up would leave finished work to be done again: keep trying while we live.
                pause = pauses.next()
                if pause > 2:
                    logger.warning("acknowledgements still fail: %s", type(error).__name__)
                await asyncio.sleep(pause)
        self._holdings.drop(batch.held)

    async def _write(self, batch: _Batch) -> None:
        await self._write_last_words(batch)
        # The claims are closed with the last statement that ends a job of theirs.
        if batch.done:
            claims = [] if batch.other else batch.claims
            refused = await self._link.perform(store.complete(batch.done, claims))
            batch.claims = batch.claims if batch.other else []
            self._count(len(batch.done) - len(refused), refused)
            accepted = [c for c in batch.done if c.id not in refused] if refused else batch.done
            self._counting.completed(accepted, batch.held)
            self._journal.completed(accepted, batch.held)
            batch.done = []
        if batch.other or batch.claims:
            ended = await self._link.perform(store.finish(batch.other, batch.claims))
            self._count(len(ended), {e.id for e in batch.other} - {e.id for e in ended})
            self._counting.ended(batch.other, ended, batch.held)
            self._journal.ended(batch.other, ended, batch.held)
            for end in ended:
                if end.status == "pending" and end.run_in is not None:
                    self._on_retry(end.run_in)
            batch.other, batch.claims = [], []

    async def _write_last_words(self, batch: _Batch) -> None:
        # What the pulse has taken but not yet written comes first: events keep their order, and none comes too late.
        self._holdings.settle()
        while any(held.being_written for held in batch.held):  # noqa: ASYNC110 - the pulse is a thread, without events
            await asyncio.sleep(0.002)
        words = gather(batch.held, self._seals)
        try:
            if words.running or words.events:
                await self._link.perform(store.report(words.running, words.events))
        except BaseException:
            words.put_back()
            raise

    async def _write_one_by_one(self, batch: _Batch, pauses: Pauses) -> None:
        every: list[Completion | Ending] = [*batch.done, *batch.other]
        ends = {end.id: end for end in every}
        still_open: set[int] = set()
        for held in batch.held:
            end: Completion | Ending | None = ends.get(held.job.id)
            while end is not None:
                try:
                    await self._write(_single(held, end))
                    break
                except Exception as error:
                    if is_busy(error):
                        self._later(held, end)
                        still_open.add(held.job.claim)
                        break
                    if not is_data_error(error):
                        await asyncio.sleep(pauses.next())
                        continue
                    end = self._refit(held, end, error)
                    if end is None:
                        still_open.add(held.job.claim)
            if held not in self._postponed:
                self._holdings.drop([held])
        await self._close_claims([claim for claim in batch.claims if claim not in still_open], pauses)

    def _refit(self, held: Held, end: Completion | Ending, error: Exception) -> Ending | None:
        """What to write instead of what the table cannot hold: at first a plain failure, and after that nothing."""
        if held.spoken is not None:
            held.spoken.take_report()
        about = {"job_id": str(held.job_id), "error": type(error).__name__}
        logger.error("the end of a job could not be stored", extra=about)
        if isinstance(end, Ending) and end.error == _UNSTORABLE:
            # Not even this. Its claim stays open, so that the next reconciliation settles it.
            return None
        return Ending(end.id, end.lease, "fail", _UNSTORABLE)

    async def _set_locked_aside(self, batch: _Batch) -> bool:
        """Take the jobs that somebody has locked out of the batch: the others go on. Whether there were any."""
        every: list[Completion | Ending] = [*batch.done, *batch.other]
        try:
            free = await self._link.perform(store.not_locked([end.id for end in every]))
        except Exception as error:
            logger.debug("could not tell which jobs are locked: %s", type(error).__name__)
            return False
        locked = {end.id: end for end in every if end.id not in free}
        for held in [held for held in batch.held if held.job.id in locked]:
            self._later(held, locked[held.job.id])
            batch.held.remove(held)
            batch.claims = [claim for claim in batch.claims if claim != held.job.claim]
        batch.done = [end for end in batch.done if end.id not in locked]
        batch.other = [end for end in batch.other if end.id not in locked]
        return bool(locked)

    def _later(self, held: Held, end: Completion | Ending) -> None:
        self._holdings.recount(held)
        self._postponed.append(held)
        task = asyncio.create_task(self._when_free(held, end))
        self._waiting_for_locks.add(task)
        task.add_done_callback(self._waiting_for_locks.discard)

    async def _when_free(self, held: Held, end: Completion | Ending) -> None:
        free: set[bytes] = set()
        while held.job.id not in free:
            await asyncio.sleep(_BUSY_SECONDS)
            try:
                free = await self._link.perform(store.not_locked([held.job.id]))
            except Exception as error:
                logger.debug("could not tell whether a job is locked: %s", type(error).__name__)
        self._postponed.remove(held)
        self.put(held, end)

    async def _close_claims(self, claims: list[int], pauses: Pauses) -> None:
        while claims:
            try:
                await self._link.perform(store.finish([], claims))
                return
            except Exception:
                # Only closes empty claims; the outage is told by the link, and trying again costs nothing.
                await asyncio.sleep(pauses.next())

    def _count(self, accepted: int, refused: set[bytes]) -> None:
        self.accepted += accepted
        self.refused += len(refused)
        for job_id in refused:
            logger.warning("job is no longer ours, its end was refused", extra={"job_id": str(UUID(bytes=job_id))})


def _single(held: Held, end: Completion | Ending) -> _Batch:
    return _Batch([held], done=[end]) if isinstance(end, Completion) else _Batch([held], other=[end])
