"""Between claim and acknowledgement: starts held jobs as slots come free, and hands over how each ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import partial

from howdah.db.link import Link
from howdah.model.context import JobContext
from howdah.model.handler import Handler, Mode
from howdah.payload.json_text import to_json
from howdah.runtime.backoff import Pauses
from howdah.worker import store
from howdah.worker.acker import Acker
from howdah.worker.executor import Executor
from howdah.worker.held import Held, Holdings, Stop
from howdah.worker.slots import Slots
from howdah.worker.store import ClaimedJob, Completion, Ending, Running

logger = logging.getLogger("howdah.worker")
_encode_event = partial(to_json, what="event data")


class Dispatcher:
    """Everything that is in this process between its claim and its end."""

    def __init__(
        self,
        handlers: Mapping[str, Handler],
        executor: Executor,
        slots: Slots,
        holdings: Holdings,
        acker: Acker,
        link: Link,
    ) -> None:
        self._handlers = handlers
        self._executor = executor
        self._slots = slots
        self._holdings = holdings
        self._acker = acker
        self._link = link
        self._tasks: dict[asyncio.Task[None], Held] = {}
        self._on_free: Callable[[], None] = lambda: None
        self._timer: asyncio.TimerHandle | None = None

    def on_free(self, tell: Callable[[], None]) -> None:
        """Whom to tell when a slot is free."""
        self._on_free = tell

    def take(self, jobs: list[ClaimedJob]) -> None:
        """Jobs that were just claimed."""
        many = [Held(job, _context(job)) for job in jobs]
        self._holdings.add(many)
        for stranger in [held for held in many if not self._knows(held.job)]:
            many.remove(stranger)
            self._release(stranger)
        self._slots.admit(many)
        self._start()

    def tidy(self) -> None:
        """Of what waits for a slot: end what was cancelled or lost, and give back what has waited too long for this
        worker to get to it soon, since another may have a slot free."""
        for held in self._slots.take_interrupted():
            cancelled = Ending(held.job.id, held.job.lease, "cancel", "cancelled on request")
            self._end(held, None if held.stop is Stop.LOST else cancelled)
        for held in self._slots.take_overdue():
            self._release(held)
        self._start()

    def _knows(self, job: ClaimedJob) -> bool:
        return job.job_type in self._handlers and self._slots.serves(job.queue)

    def _release(self, held: Held) -> None:
        self._end(held, Ending(held.job.id, held.job.lease, "release"))

    def release_waiting(self) -> None:
        """Give back what has not started: it costs nothing."""
        for held in self._slots.take_waiting():
            self._release(held)

    async def finish(self, seconds: float, hurry: asyncio.Event) -> None:
        """Let running jobs finish, for that long or until told to hurry."""
        if self._tasks:
            hurried = asyncio.create_task(hurry.wait())
            everything = asyncio.gather(*self._tasks, return_exceptions=True)
            await asyncio.wait((everything, hurried), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            hurried.cancel()

    async def release_running(self, seconds: float) -> int:
        """Interrupt what still runs, and give it back. How many would not be interrupted and are left behind."""
        for held in list(self._tasks.values()):
            held.interrupt_for(Stop.SHUTDOWN)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        for held in list(self._tasks.values()):
            if not held.ended:
                self._release(held)
        return len(self._tasks)

    def _start(self) -> None:
        while (held := self._slots.start_next()) is not None:
            task = asyncio.create_task(self._live(held))
            self._tasks[task] = held
            task.add_done_callback(self._tasks.pop)
        self._look_again(self._slots.next_suspect_in())

    def _look_again(self, seconds: float | None) -> None:
        if seconds is not None and self._timer is None:

            def look() -> None:
                self._timer = None
                self._start()

            self._timer = asyncio.get_running_loop().call_later(seconds, look)

    async def _live(self, held: Held) -> None:
        try:
            end = await self._run(held)
        except BaseException as error:
            # Nothing should come this far; whatever did, the job must end and its slot come free.
            logger.exception("the worker failed to run a job", extra={"job_id": str(held.job.id)})
            end = Ending(held.job.id, held.job.lease, "retry", f"the worker failed to run it: {type(error).__name__}")
        if not held.ended:
            self._end(held, end)
        if held.lingering is not None:
            # The thread could not be stopped and still uses its slot.
            held.lingering.add_done_callback(lambda _: self._free(held))
        else:
            self._free(held)

    async def _run(self, held: Held) -> Completion | Ending | None:
        if held.suspect and self._handlers[held.job.job_type].mode is not Mode.PROCESS:
            marked = await self._mark_start(held)
            if marked is None:
                return Ending(held.job.id, held.job.lease, "release")
            if not marked:
                return None
        return await self._executor.execute(held)

    async def _mark_start(self, held: Held) -> bool | None:
        """Write down that a suspect starts, before it does: should it kill this process, it is the one charged.

        False: the lease is lost. None: interrupted before the database answered.
        """
        pauses = Pauses()
        job = held.job
        while True:
            try:
                accepted = await self._link.perform(store.report([Running(job.id, job.lease, None, None, 0.0)]))
            except Exception as error:
                if held.stop is not None:
                    return None
                logger.debug("start of a suspect job not written yet: %s", type(error).__name__)
                await asyncio.sleep(pauses.next())
                continue
            held.marked = bool(accepted)
            return held.marked

    def _end(self, held: Held, end: Completion | Ending | None) -> None:
        self._holdings.end(held)
        self._acker.put(held, end)

    def _free(self, held: Held) -> None:
        self._slots.free(held)
        self._start()
        self._on_free()


def _context(job: ClaimedJob) -> JobContext:
    return JobContext(job.id, job.job_type, job.queue, job.attempts, job.max_attempts, _encode_event)
