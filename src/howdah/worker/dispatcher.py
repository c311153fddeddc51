"""Between claim and acknowledgement: starts held jobs as slots come free, and hands over how each ended.

Jobs run in standing tasks: a task runs one job after the other for as long as their handlers do not wait for anything,
and when one does, another task, standing by, goes on with the next job. So a flood of quick jobs costs no task each,
and a thousand waiting ones have one each as ever. A handler notices nothing: what it leaves behind in its task, a
changed context variable or a cancellation, ends that task with the job.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextvars import copy_context

from howdah.db.link import Link
from howdah.model.handler import Handler, Mode
from howdah.runtime.backoff import Pauses
from howdah.runtime.tracing import kind_and_place
from howdah.telemetry.log_context import current_job
from howdah.worker import store
from howdah.worker.acker import Acker
from howdah.worker.executor import Executor
from howdah.worker.held import AWAY_SECONDS, Held, Holdings, Stop
from howdah.worker.slots import Slots
from howdah.worker.store import ClaimedJob, Completion, Ending, Running

logger = logging.getLogger("howdah.worker")
#: How long jobs may run one after the other before everything else on the event loop has its turn.
_TURN_SECONDS = 0.002


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
        self._living: set[Held] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        #: A task that will look for a job to start at its first turn, if there is one.
        self._standby: asyncio.Task[None] | None = None
        self._deserted = asyncio.Event()
        self._on_free: Callable[[], None] = lambda: None
        self._timer: asyncio.TimerHandle | None = None

    def on_free(self, tell: Callable[[], None]) -> None:
        """Whom to tell when a slot is free."""
        self._on_free = tell

    def take(self, jobs: list[ClaimedJob]) -> None:
        """Jobs that were just claimed."""
        now = time.monotonic()
        many = [Held(job, now) for job in jobs]
        self._holdings.add(many)
        if not all(self._knows(*kind) for kind in {(job.job_type, job.queue) for job in jobs}):
            strangers = [held for held in many if not self._knows(held.job.job_type, held.job.queue)]
            many = [held for held in many if self._knows(held.job.job_type, held.job.queue)]
            for stranger in strangers:
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

    def _knows(self, job_type: str, queue: str) -> bool:
        return job_type in self._handlers and self._slots.serves(queue)

    def _release(self, held: Held) -> None:
        self._end(held, Ending(held.job.id, held.job.lease, "release"))

    def release_waiting(self) -> None:
        """Give back what has not started: it costs nothing."""
        for held in self._slots.take_waiting():
            self._release(held)

    async def finish(self, seconds: float, hurry: asyncio.Event) -> None:
        """Let running jobs finish, for that long or until told to hurry."""
        if self._living:
            hurried = asyncio.create_task(hurry.wait())
            alone = asyncio.create_task(self._alone())
            await asyncio.wait((alone, hurried), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            hurried.cancel()
            alone.cancel()

    async def release_running(self, seconds: float) -> int:
        """Interrupt what still runs, and give it back. How many would not be interrupted and are left behind."""
        for held in list(self._living):
            held.interrupt_for(Stop.SHUTDOWN)
        alone = asyncio.create_task(self._alone())
        await asyncio.wait((alone,), timeout=seconds)
        alone.cancel()
        for held in list(self._living):
            if not held.ended:
                self._release(held)
        return len(self._living)

    async def _alone(self) -> None:
        while self._living:
            self._deserted.clear()
            await self._deserted.wait()

    def _start(self) -> None:
        if self._standby is None and self._slots.startable:
            self._standby = asyncio.create_task(self._stand())
            self._tasks.add(self._standby)
            self._standby.add_done_callback(self._tasks.discard)
        self._look_again(self._slots.next_suspect_in())

    def _look_again(self, seconds: float | None) -> None:
        if seconds is not None and self._timer is None:

            def look() -> None:
                self._timer = None
                self._start()

            self._timer = asyncio.get_running_loop().call_later(seconds, look)

    async def _stand(self) -> None:
        """Run jobs while there are any to start and they leave this task as it was."""
        task = asyncio.current_task()
        assert task is not None, "it is one"
        self._standby = None
        if self._holdings.out_of_touch:
            self._look_again(AWAY_SECONDS)
            return
        turn_ends = time.monotonic() + _TURN_SECONDS
        while (held := self._slots.start_next()) is not None:
            # Somebody must go on with the next job should this one wait for something.
            if self._standby is None:
                self._start()
            held.cancel_task = task.cancel
            # Whatever the handler logs is this job's. Not taken back: the next one sets it anew, and this costs less.
            current_job.set(held)
            clean = copy_context()
            await self._live(held)
            if time.monotonic() > turn_ends or task.cancelling() or copy_context() != clean:
                # Another task goes on, after everything else on the event loop has had its turn.
                self._start()
                return

    async def _live(self, held: Held) -> None:
        self._living.add(held)
        try:
            end = await (self._run_suspect(held) if held.job.deaths else self._executor.execute(held))
        except BaseException as error:
            # Nothing should come this far; whatever did, the job must end and its slot come free.
            about = {"job_id": str(held.job_id), **kind_and_place(error)}
            logger.error("the worker failed to run a job", extra=about)
            end = Ending(held.job.id, held.job.lease, "retry", f"the worker failed to run it: {type(error).__name__}")
        if not held.ended:
            self._end(held, end)
        self._living.discard(held)
        if not self._living:
            self._deserted.set()
        if held.lingering is not None:
            # The thread could not be stopped and still uses its slot.
            held.lingering.add_done_callback(lambda _: self._free(held))
        else:
            self._slots.free(held)
            self._on_free()

    async def _run_suspect(self, held: Held) -> Completion | Ending | None:
        if self._handlers[held.job.job_type].mode is not Mode.PROCESS:
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
        held.ended = True
        self._acker.put(held, end)

    def _free(self, held: Held) -> None:
        self._slots.free(held)
        self._start()
        self._on_free()
