"""A worker process from start to end.

States: connecting (the database may be away: told once, tried again until it answers) → working → stopping. A signal
stops it in each of them; the second one hurries.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
from collections.abc import Callable
from functools import partial

from howdah.admin.store import is_read_only
from howdah.app import Howdah
from howdah.cli.health import LOOPBACK, HealthPort, WorkerHealth, serve_health
from howdah.cli.leash import Leash
from howdah.cli.readiness import Readiness
from howdah.model.errors import DatabaseUnavailable
from howdah.model.worker_settings import WorkerSettings
from howdah.runtime.backoff import Pauses
from howdah.runtime.threads import ThreadRunner
from howdah.worker.worker import Worker

logger = logging.getLogger("howdah.worker")


class Stopping:
    """What ends this process: SIGTERM and SIGINT; for a supervised worker, its supervisor's word or end. Given to the
    worker as soon as there is one.

    The second signal hurries. Not so under a supervisor, which then says so itself: what signals a whole group, as a
    terminal does, signals the supervisor too, and it has passed that on already.
    """

    def __init__(self, leash: Leash | None, on_stop: Callable[[], None]) -> None:
        self.came = asyncio.Event()
        self._leash = leash
        self._on_stop = on_stop
        self._worker: Worker | None = None

    def listen(self) -> None:
        """Take the signals of this process, and the supervisor's words."""
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._signalled, number.name)
        if self._leash is not None:
            self._leash.follow(
                partial(self._stop, "the supervisor"), partial(self._stop_now, "the supervisor"), self._let_loose
            )

    def tell(self, worker: Worker) -> None:
        """Whom to stop."""
        self._worker = worker

    def _signalled(self, name: str) -> None:
        if not self.came.is_set():
            self._stop(name)
        elif self._leash is None:
            self._stop_now(name)

    def _let_loose(self) -> None:
        self._leash = None
        self._stop("the supervisor is gone")

    def _stop(self, why: str) -> None:
        if self.came.is_set():
            return
        logger.info("%s: %s", why, "stopping" if self._leash else "stopping; once more to stop now")
        self.came.set()
        self._on_stop()
        if self._worker is not None:
            self._worker.stop()

    def _stop_now(self, why: str) -> None:
        self._stop(why)
        logger.info("%s: stopping now", why)
        if self._worker is not None:
            self._worker.stop()


async def serve(
    app: Howdah, settings: WorkerSettings, reports: Readiness | Leash, health_port: HealthPort | None = None
) -> None:
    """Work until told to stop, and report when there is a worker that can claim."""
    leash = reports if isinstance(reports, Leash) else None
    stopping = Stopping(leash, reports.stopping)
    stopping.listen()
    health = WorkerHealth(app, leash.number if leash else None)
    if leash is not None and health_port is not None:
        # The port that was given is the supervisor's.
        health_port = HealthPort(LOOPBACK, 0)
    server = await serve_health(health_port, health.routes(), reports.listening)
    if not await database_answers(app, stopping.came):
        # Not closed: an attempt may still hang on a host that does not answer, and there is nothing to give back.
        return
    spare_the_collector()
    try:
        worker = app.worker(settings)
        stopping.tell(worker)
        health.tell(worker)
        reporting = asyncio.create_task(report_ready(worker, reports))
        await worker.run()
        reporting.cancel()
        reports.stopped()
        if worker.left_behind:
            # A handler that swallows its cancellation would keep the event loop, and so this process, for ever. Its job
            # has been released: it must not go on here.
            logger.warning("handlers would not stop; leaving without them", extra={"count": worker.left_behind})
            app.close()
            logging.shutdown()
            os._exit(0)
    finally:
        reports.stopping()
        if server is not None:
            await server.close()
            health.close()
        await app.aclose()


def spare_the_collector() -> None:
    """What is loaded by now stays for good, so the garbage collector need not look through it again and again; and a
    worker holds thousands of young objects at a time that are no garbage."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


async def report_ready(worker: Worker, reports: Readiness | Leash) -> None:
    """Say so once it is."""
    await worker.ready.wait()
    reports.ready(worker.worker_id)


def find_database(app: Howdah) -> None:
    """Connect, and see that the schema fits and that the server writes; raises what is in the way."""
    app.sessions.url()
    try:
        read_only = app.sessions.run(is_read_only)
    finally:
        # The worker has connections of its own, and the next attempt must not ask an old one.
        app.sessions.close()
    if read_only:
        raise DatabaseUnavailable("the server is read-only, perhaps a standby; use the primary's URL")


async def database_answers(app: Howdah, stop: asyncio.Event) -> bool:
    """Wait until the database can be used; False: told to stop first. What waiting cannot mend is raised: a schema that
    does not fit, an embedded server that cannot start."""
    pauses = Pauses(first=0.2, longest=10)
    told: set[str] = set()
    threads = ThreadRunner("howdah-start")
    stopped = asyncio.ensure_future(stop.wait())
    while not stop.is_set():
        # In a thread, so that a signal is heard while an unreachable host keeps us waiting.
        answer = threads.submit(partial(find_database, app))
        await asyncio.wait((answer, stopped), return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            answer.cancel()
            return False
        try:
            answer.result()
        except DatabaseUnavailable as error:
            reason = str(error)
            if reason not in told:
                told.add(reason)
                logger.warning("cannot start yet, trying again until the database answers: %s", reason)
            await asyncio.wait((stopped,), timeout=pauses.next())
        else:
            stopped.cancel()
            if told:
                logger.warning("the database answers")
            return True
    return False
