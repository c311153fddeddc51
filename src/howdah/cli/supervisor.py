"""`howdah worker --processes N`: as many worker processes, kept running and stopped together.

States: connecting (the database may be away: told once, not by every worker) → running → stopping (all were asked to
stop, none is started) → ended, when no process is left.

- SIGTERM, SIGINT: all stop gracefully; once more: now.
- SIGHUP: all are replaced, one after another, by fresh processes; never fewer of them, and at most one more.
- SIGTTIN, SIGTTOU: one worker more, one fewer.

The supervisor asks its workers over the leash and not by signals, and a signal of their own never hurries them: a
terminal, systemd and the init of a container signal all processes at once, so most signals come twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Coroutine
from functools import partial
from typing import Any

from howdah.app import Howdah
from howdah.cli.health import HealthPort, SupervisorHealth, serve_health
from howdah.cli.readiness import Readiness
from howdah.cli.seat import Seat
from howdah.cli.serving import database_answers
from howdah.cli.supervised import Command, Supervised, how_it_ended
from howdah.maintenance.store import bury, note_rescues
from howdah.model.errors import HowdahError
from howdah.runtime.threads import ThreadRunner

logger = logging.getLogger("howdah.supervisor")
MOST_PROCESSES = 1000


class Supervisor:
    """Of one app's workers on this machine."""

    def __init__(
        self, app: Howdah, command: Command, processes: int, readiness: Readiness, health: HealthPort | None = None
    ) -> None:
        self._app = app
        self._command = command
        self._processes = processes
        self._readiness = readiness
        self._threads = ThreadRunner("howdah-supervisor")
        self._seats: dict[int, Seat] = {}
        self._alive: set[Supervised] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self._roll = asyncio.Event()
        self._one_burial = asyncio.Lock()
        self._was_ready = False
        self._exit_code = 0
        self._has_terminal = has_terminal()
        self._health_port = health
        self._health = SupervisorHealth(app, self._health_ports)

    async def run(self) -> int:
        """Until signalled and all workers have ended; the exit code."""
        self._listen()
        server = await serve_health(self._health_port, self._health.routes(), self._readiness.listening)
        if await database_answers(self._app, self._stopping):
            try:
                await self._supervise()
            finally:
                self._readiness.stopping()
                if server is not None:
                    await server.close()
                    self._health.close()
                await self._app.aclose()
        return self._exit_code

    def _health_ports(self) -> dict[int, int | None]:
        if self._stopping.is_set():
            return {}
        return {
            number: seat.worker.health_port if seat.worker is not None and seat.is_ready else None
            for number, seat in self._seats.items()
        }

    async def _supervise(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTTIN, self._add_seat)
        loop.add_signal_handler(signal.SIGTTOU, self._remove_seat)
        for _ in range(self._processes):
            self._add_seat()
        rolling = self._keep(self._replace_when_asked())
        await self._stopping.wait()
        rolling.cancel()
        while self._alive or self._tasks:
            left: list[asyncio.Future[Any]] = [*(worker.ended for worker in self._alive), *self._tasks]
            await asyncio.wait(left)
        logger.info("all workers have ended")

    def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._told_to_stop, number.name)
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as under nohup
            loop.add_signal_handler(signal.SIGHUP, self._told_to_replace)

    def _told_to_stop(self, why: str) -> None:
        if self._stopping.is_set():
            logger.info("%s: stopping now", why)
            for worker in self._alive:
                worker.hurry()
        else:
            self._stop(f"{why}: stopping; once more to stop now")

    def _stop(self, message: str) -> None:
        logger.info("%s", message, extra={"processes": len(self._alive)})
        self._stopping.set()
        self._readiness.stopping()
        for seat in self._seats.values():
            seat.give_up()
        # Those too that sit nowhere: who is about to take over, and who has been replaced.
        for worker in self._alive:
            if not worker.told:
                worker.stop()

    def _told_to_replace(self) -> None:
        if self._has_terminal and not has_terminal():
            self._told_to_stop("the terminal is gone")
        else:
            self._roll.set()

    def _add_seat(self) -> None:
        if self._stopping.is_set() or len(self._seats) >= MOST_PROCESSES:
            return
        number = next(n for n in range(1, MOST_PROCESSES + 1) if n not in self._seats)
        self._seats[number] = seat = Seat(number, self._start, self._refused)
        self._keep(seat.keep_filled())

    def _remove_seat(self) -> None:
        if self._stopping.is_set():
            return
        if len(self._seats) == 1:
            logger.info("one worker stays; SIGTERM stops it")
        else:
            number = max(self._seats)
            logger.info("one worker fewer", extra={"worker": number})
            self._seats.pop(number).give_up()

    def _start(self, number: int) -> Supervised:
        worker = Supervised(number, self._command, self._threads)
        logger.info("starting a worker", extra={"worker": number, "pid": worker.pid})
        self._alive.add(worker)
        worker.ready.add_done_callback(lambda _: self._look_whether_ready())
        worker.ended.add_done_callback(lambda _: self._ended(worker))
        return worker

    def _look_whether_ready(self) -> None:
        if not self._was_ready and not self._stopping.is_set() and all(s.is_ready for s in self._seats.values()):
            self._was_ready = True
            logger.info("ready: %d processes", len(self._seats))
            self._readiness.ready(f"{len(self._seats)} processes")

    def _ended(self, worker: Supervised) -> None:
        self._alive.discard(worker)
        if worker.ended_well:
            return
        if worker.told:
            if self._stopping.is_set():
                self._exit_code = self._exit_code or 1
            how = how_it_ended(worker.ended.result())
            logger.warning("worker %s while stopping", how, extra={"worker": worker.number, "pid": worker.pid})
        if worker.worker_id is not None:
            self._keep(self._bury(worker.worker_id))

    def _refused(self) -> None:
        if all(seat.refused for seat in self._seats.values()) and not self._stopping.is_set():
            self._exit_code = 2
            self._stop("no worker can start: stopping")

    async def _bury(self, worker_id: str) -> None:
        # Its process has ended, which is surer than any silence: its jobs need not wait for that.
        try:
            async with self._one_burial:
                rescued = await self._threads.submit(partial(bury_worker, self._app, worker_id))
        except Exception as error:
            # The database may be away, or refuse: then it goes as it goes for any dead worker.
            reason = str(error) if isinstance(error, HowdahError) else type(error).__name__
            logger.info("its jobs wait until it counts as silent: %s", reason, extra={"dead_worker": worker_id})
        else:
            if rescued:
                logger.info("its jobs are free again", extra={"dead_worker": worker_id, "count": rescued})

    async def _replace_when_asked(self) -> None:
        while await self._roll.wait():
            self._roll.clear()
            logger.info("SIGHUP: replacing all workers, one after another")
            if self._was_ready:
                self._readiness.reloading()
            done = True
            for seat in list(self._seats.values()):
                done = done and await seat.replace()
            logger.info("all workers have been replaced" if done else "the others are not replaced")
            if self._was_ready:
                self._readiness.ready(f"{len(self._seats)} processes")

    def _keep(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._let_go)
        return task

    def _let_go(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            # A defect here. A supervisor that looks after half of its workers is worse than none.
            logger.error("the supervisor failed", exc_info=error)
            self._exit_code = 1
            self._stop("stopping")


def bury_worker(app: Howdah, worker_id: str) -> int:
    """Give back what it held; how many jobs."""
    try:
        rescued = app.sessions.run(partial(bury, worker_id))
        if rescued:
            # Only for the history; whatever goes wrong here, their jobs are free again.
            with contextlib.suppress(Exception):
                app.sessions.run(partial(note_rescues, rescued), repeatable=False)
        return len(rescued)
    finally:
        # Deaths are rare: no connection is kept for them.
        app.sessions.close()


def has_terminal() -> bool:
    """Whether a terminal controls this process. After it has hung up, none does."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True
