"""A worker that always runs the newest code that starts, for `howdah up`.

States: starting → working; at a change a second one starts beside it and takes over when it is ready, and only then the
first is asked to stop, so that its jobs may finish. Code that does not start changes nothing: the worker before it goes
on. If there is none, because it died or was the first, the next change is awaited.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from howdah.app import Howdah
from howdah.cli.restarts import Restarts
from howdah.cli.supervised import Command, Supervised, how_it_ended
from howdah.cli.supervisor import bury_worker
from howdah.model.errors import HowdahError
from howdah.runtime.threads import ThreadRunner

logger = logging.getLogger("howdah.supervisor")


class Reloader:
    """`tell` hears what a person should know."""

    def __init__(self, app: Howdah, command: Command, tell: Callable[[str], None]) -> None:
        self._app = app
        self._command = command
        self._tell = tell
        self._threads = ThreadRunner("howdah-up")
        self._restarts = Restarts()
        self._generation = 0
        self._current: Supervised | None = None
        self._alive: set[Supervised] = set()
        self._burials: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self.stopping = asyncio.Event()

    def reload(self) -> None:
        """The code has changed."""
        self._changed.set()

    def stop(self) -> None:
        """Let all workers stop; once more: now."""
        if self.stopping.is_set():
            for worker in self._alive:
                worker.hurry()
        self.stopping.set()
        for worker in self._alive:
            if not worker.told:
                worker.stop()

    async def run(self) -> None:
        """Until stopped and no worker is left."""
        try:
            await self._replace()
            while not self.stopping.is_set():
                await self._first_of(self._changed, self.stopping, self._current)
                if self._changed.is_set():
                    await self._replace()
                elif self._current is not None and self._current.ended.done():
                    await self._start_again(self._current)
        finally:
            self.stopping.set()
            for worker in self._alive:
                worker.stop()
            while self._alive or self._burials:
                left: list[asyncio.Future[Any]] = [*(worker.ended for worker in self._alive), *self._burials]
                await asyncio.wait(left)

    async def _replace(self) -> None:
        """Have a fresh process take over, if it can."""
        while not self.stopping.is_set():
            self._changed.clear()
            new = self._start()
            await self._first_of(self._changed, self.stopping, new, new.ready)
            if new.ended.done():
                self._refused(new)
                return
            if new.ready.done():
                old, self._current = self._current, new
                if old is not None and not old.ended.done():
                    old.stop()
                self._tell("the worker runs the new code" if old is not None else "the worker is ready")
                return
            # Changed again before it was ready: it holds nothing, and the next one begins.
            new.stop()

    def _refused(self, new: Supervised) -> None:
        if self.stopping.is_set():
            return
        if self._current is not None and not self._current.ended.done():
            self._tell("the new code does not start; the worker before it goes on until the next change")
        else:
            self._current = None
            self._tell("the code does not start; waiting for the next change")

    async def _start_again(self, dead: Supervised) -> None:
        """A worker ended that nobody asked to."""
        pause = self._restarts.pause(dead.lived)
        self._current = None
        self._tell(f"the worker {how_it_ended(dead.ended.result())}; starting it again")
        if pause:
            await self._first_of(self._changed, self.stopping, seconds=pause)
        await self._replace()

    def _start(self) -> Supervised:
        self._generation += 1
        worker = Supervised(self._generation, self._command, self._threads)
        self._alive.add(worker)
        worker.ended.add_done_callback(partial(self._ended, worker))
        return worker

    def _ended(self, worker: Supervised, _: asyncio.Future[int]) -> None:
        self._alive.discard(worker)
        if not worker.ended_well and worker.worker_id is not None:
            task = asyncio.create_task(self._bury(worker.worker_id))
            self._burials.add(task)
            task.add_done_callback(self._burials.discard)

    async def _bury(self, worker_id: str) -> None:
        # Its process has ended, which is surer than any silence: its jobs need not wait for that.
        try:
            rescued = await self._threads.submit(partial(bury_worker, self._app, worker_id))
        except HowdahError as error:
            logger.info("its jobs wait until it counts as silent: %s", error, extra={"dead_worker": worker_id})
        else:
            if rescued:
                logger.info("its jobs are free again", extra={"dead_worker": worker_id, "count": rescued})

    async def _first_of(
        self, *things: asyncio.Event | asyncio.Future[Any] | Supervised | None, seconds: float | None = None
    ) -> None:
        """Wait for the first of these: an event that is set, a future that is done, a worker that has ended."""
        waits = [asyncio.ensure_future(thing.wait()) for thing in things if isinstance(thing, asyncio.Event)]
        others = [thing.ended if isinstance(thing, Supervised) else thing for thing in things]
        futures = [one for one in others if isinstance(one, asyncio.Future)]
        try:
            await asyncio.wait([*waits, *futures], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
