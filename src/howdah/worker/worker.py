"""A worker process: claim → run → acknowledge, and stop without losing anything.

States: starting → working → stopping (no more claims; waiting jobs released; running ones may finish within
the grace time) → releasing (the rest interrupted and released at once) → stopped. A second stop request
skips the grace time.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import platform
import secrets
import socket
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from howdah.db.catalog import Catalog
from howdah.db.link import BlockingLink, Link, Outage
from howdah.db.op import Operation
from howdah.model.errors import OptionError
from howdah.model.handler import ErrorHook, Handler, Mode
from howdah.model.worker_settings import WorkerSettings
from howdah.runtime.tracing import kind_and_place
from howdah.sealing.keyring import Keyring
from howdah.telemetry.exposition import Family
from howdah.telemetry.tally import Tally
from howdah.worker import store
from howdah.worker.acker import Acker
from howdah.worker.claimer import Claimer
from howdah.worker.counting import Counting
from howdah.worker.dispatcher import Dispatcher
from howdah.worker.executor import Executor, Runner
from howdah.worker.held import Holdings
from howdah.worker.listener import listen
from howdah.worker.process_runner import ProcessRunner
from howdah.worker.pulse import Duties, Pulse
from howdah.worker.runners import LoopRunner, ThreadedRunner
from howdah.worker.seals import Seals
from howdah.worker.slots import Slots, make_pools
from howdah.worker.teller import Teller
from howdah.worker.vitals import Vitals

logger = logging.getLogger("howdah.worker")
_UNWIND_SECONDS = 1.0
_LAST_ACKS_SECONDS = 10.0
_TIDY_SECONDS = 0.5

#: A service beside the worker: (a link of its own, seconds of silence, ring, where to count) → runs until cancelled.
Companion = Callable[[Link, float, Callable[[], None], Tally], Coroutine[Any, Any, None]]


class Worker:
    """Runs the jobs of one app on one event loop."""

    def __init__(
        self,
        url: str,
        catalog: Catalog,
        handlers: Mapping[str, Handler],
        settings: WorkerSettings,
        companion: Companion | None,
        on_error: Sequence[ErrorHook] = (),
        keyring: Keyring | None = None,
    ) -> None:
        self.worker_id = _make_id(settings.name)
        self._url = url
        self._catalog = catalog
        self._settings = settings
        self._companion = companion if settings.maintenance else None
        self._handlers = _served_handlers(handlers, settings)
        self._queues = dict(settings.queues) or {handler.queue: None for handler in self._handlers.values()}
        self._on_error = on_error
        self._outage = Outage()
        self._seals = Seals(keyring)
        self._stop = asyncio.Event()
        self._hurry = asyncio.Event()
        #: Handlers that would not be interrupted when the worker stopped: they run on until the process ends.
        self.left_behind = 0
        #: Set once the worker has registered itself and asks for work.
        self.ready = asyncio.Event()
        self._tally = Tally()
        kinds = [(job_type, queue) for job_type in self._handlers for queue in self._queues]
        self._counting = Counting(self._tally, kinds[0] if len(kinds) == 1 else None)
        self._vitals: Vitals | None = None

    def stop(self) -> None:
        """Stop gracefully; called again: now."""
        if self._stop.is_set():
            self._hurry.set()
        self._stop.set()

    def metrics(self) -> list[Family]:
        """What this worker has done and is at; none before it runs. Called on its event loop."""
        return [] if self._vitals is None else self._vitals.families()

    def trouble(self) -> str | None:
        """Why no jobs should be expected of this worker now; None: it is ready."""
        if self._stop.is_set():
            return "stopping"
        if self._vitals is None or not self.ready.is_set():
            return "starting"
        return self._vitals.trouble()

    async def run(self) -> None:
        """Work until stopped, and leave nothing behind."""
        holdings = Holdings(self._settings.silence.total_seconds())
        slots = Slots(make_pools(self._queues, self._settings.concurrency))
        acks, claims = self._link("acks"), self._link("claims")
        processes = ProcessRunner(self._settings.in_child)
        runners: dict[str, Runner] = {Mode.LOOP: LoopRunner(), Mode.THREAD: ThreadedRunner(), Mode.PROCESS: processes}
        executor = Executor(self._handlers, runners, self._seals, self._on_error)
        teller = Teller()
        acker = Acker(
            acks,
            holdings,
            on_retry=lambda seconds: claimer.due_in(seconds),  # noqa: PLW0108 - claimer is made below
            expects_more=lambda: slots.buffered,
            seals=self._seals,
            counting=self._counting,
            on_written=teller.note,
        )
        dispatcher = Dispatcher(self._handlers, executor, slots, holdings, acker, acks)
        claimer = Claimer(claims, self.worker_id, list(self._handlers), slots, dispatcher.take, lambda: acker.backlog)
        claimer.wait_while(lambda: holdings.out_of_touch)
        claimer.count_in(self._tally)
        claimer.on_claimed(teller.note)
        dispatcher.on_free(claimer.freed)
        self._vitals = Vitals(self.worker_id, self._tally, slots, holdings, lambda: acker.backlog)
        pulse = self._pulse(holdings, Duties(self._seals, self._counting, self._vitals.load, teller))
        pulse.start()
        acking = asyncio.create_task(_kept_alive("acknowledging", acker.run))
        claiming = asyncio.create_task(_kept_alive("claiming", lambda: self._claim(claimer, claims)))
        background = [
            *self._background(claimer),
            asyncio.create_task(_kept_alive("tidying", partial(_tidy, dispatcher, self._tally))),
        ]
        try:
            await self._stop.wait()
            logger.info("worker stopping", extra={"worker_id": self.worker_id, "held": len(holdings)})
            claimer.stop()
            await _settled(claiming, _UNWIND_SECONDS * 5)
            await self._finish_jobs(dispatcher, slots)
            await _settled(asyncio.create_task(acker.drained()), _LAST_ACKS_SECONDS)
        finally:
            await _cancelled(acking, claiming, *background)
            await asyncio.to_thread(pulse.stop)
            processes.close()
            await self._leave(acks)
            await claims.close()
            logger.info("worker stopped", extra={"worker_id": self.worker_id, "held": len(holdings)})

    async def _finish_jobs(self, dispatcher: Dispatcher, slots: Slots) -> None:
        dispatcher.release_waiting()
        seconds = self._settings.grace.total_seconds()
        if slots.running and not self._hurry.is_set():
            logger.info("waiting up to %g s for running jobs", seconds, extra={"running": slots.running})
        await dispatcher.finish(seconds, self._hurry)
        self.left_behind = await dispatcher.release_running(_UNWIND_SECONDS)

    async def _claim(self, claimer: Claimer, link: Link) -> None:
        # Registered before the first claim: a rescue must know how long this worker may be silent.
        while not self._stop.is_set():
            try:
                await link.perform(self._register())
                break
            except Exception as error:
                logger.debug("cannot register yet: %s", type(error).__name__)
                await asyncio.sleep(0.2)
        logger.info(
            "worker started",
            extra={
                "worker_id": self.worker_id,
                "queues": list(self._queues),
                "job_types": list(self._handlers),
            },
        )
        self.ready.set()
        await claimer.run(self._settings.poll.total_seconds())

    def _background(self, claimer: Claimer) -> list[asyncio.Task[None]]:
        tasks = []
        if self._settings.listen:
            tasks.append(asyncio.create_task(listen(self._link("listener"), claimer.ring, claimer.trust)))
        if self._companion is not None:
            silence = self._settings.silence.total_seconds()
            tasks.append(
                asyncio.create_task(
                    self._companion(self._link("maintenance", optional=True), silence, claimer.ring, self._tally)
                )
            )
        return tasks

    def _pulse(self, holdings: Holdings, duties: Duties) -> Pulse:
        link = BlockingLink(self._url, self._catalog, "pulse", self._outage)
        silence = self._settings.silence.total_seconds()
        return Pulse(link, self.worker_id, holdings, silence, self._register, duties)

    def _register(self) -> Operation[None]:
        slots = sum(pool.limit for pool in make_pools(self._queues, self._settings.concurrency))
        where = {"host": socket.gethostname(), "pid": os.getpid(), "python": platform.python_version()}
        info = {**where, "slots": slots}
        return store.register(
            self.worker_id, self._settings.silence, list(self._queues), list(self._handlers), json.dumps(info)
        )

    async def _leave(self, link: Link) -> None:
        try:
            async with asyncio.timeout(2):
                # What a claim under way may have taken in vain, then the row.
                await link.perform(store.reconcile(self.worker_id, [], timedelta(0)))
                await link.perform(store.unregister(self.worker_id))
        except Exception as error:
            # Harmless: the row goes with the next rescue.
            logger.debug("could not sign off: %s", type(error).__name__)
        await link.close()

    def _link(self, role: str, *, optional: bool = False) -> Link:
        return Link(self._url, self._catalog, role, self._outage, optional=optional)


def _served_handlers(handlers: Mapping[str, Handler], settings: WorkerSettings) -> dict[str, Handler]:
    if not handlers:
        raise OptionError("this app registers no job types; decorate functions with @app.job()")
    unknown = [name for name in settings.job_types if name not in handlers]
    if unknown:
        raise OptionError(f"this app registers no job type {unknown[0]!r}; it has: {', '.join(sorted(handlers))}")
    return {name: handlers[name] for name in settings.job_types or handlers}


def _make_id(name: str | None) -> str:
    # Of this incarnation, not of this name or host: a restarted worker must never be taken for its dead predecessor.
    return f"{name or f'{socket.gethostname()[:60]}:{os.getpid()}'}:{secrets.token_hex(4)}"


async def _tidy(dispatcher: Dispatcher, tally: Tally) -> None:
    while True:
        wanted = time.monotonic() + _TIDY_SECONDS
        await asyncio.sleep(_TIDY_SECONDS)
        tally.note_lag(max(0.0, time.monotonic() - wanted))
        dispatcher.tidy()


async def _kept_alive(what: str, run: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run it again should it ever fail: a worker that beats but no longer claims or acknowledges is worse than none."""
    while True:
        try:
            return await run()
        except Exception as error:
            logger.error("%s failed unexpectedly; starting it again", what, extra=kind_and_place(error))
            await asyncio.sleep(1)


async def _settled(task: asyncio.Task[None], seconds: float) -> None:
    await asyncio.wait((task,), timeout=seconds)


async def _cancelled(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
