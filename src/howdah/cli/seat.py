"""A place for one worker: who sits there, who died there, who takes over.

A seat is filled at once, and again whenever its worker ends unasked. While it is being replaced there are two: the new
one takes the seat when it is ready, and only then the old one is asked to go. A new one that never gets ready changes
nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable

from howdah.cli.restarts import FIRST_PAUSE, Restarts
from howdah.cli.supervised import Supervised, how_it_ended

logger = logging.getLogger("howdah.supervisor")


class Seat:
    """`start` begins a process for this seat; `on_refused` is called when one ended with a user's mistake."""

    def __init__(self, number: int, start: Callable[[int], Supervised], on_refused: Callable[[], None]) -> None:
        self.number = number
        self.worker: Supervised | None = None
        #: The last one ended with a user's mistake: the next may well do the same.
        self.refused = False
        self._start = start
        self._on_refused = on_refused
        self._restarts = Restarts()
        self._given_up = asyncio.Event()
        #: Rung when there is no more reason to wait before filling the seat: it was given up, or taken.
        self._settled = asyncio.Event()

    @property
    def is_ready(self) -> bool:
        """Whether a worker sits here that can claim."""
        return self.worker is not None and self.worker.ready.done() and not self.worker.ended.done()

    def give_up(self) -> None:
        """Nobody sits here any more."""
        self._given_up.set()
        self._settled.set()
        if self.worker is not None:
            self.worker.stop()

    async def keep_filled(self) -> None:
        """Start whoever is missing, until given up."""
        while not self._given_up.is_set():
            if self.worker is None or self.worker.ended.done():
                try:
                    self.worker = self._start(self.number)
                except OSError as error:
                    logger.error("cannot start a process, trying again: %s", error, extra={"worker": self.number})
                    await self._rest(max(FIRST_PAUSE, self._restarts.pause(0)))
                    continue
            sitting = self.worker
            await sitting.ended
            if sitting is self.worker and not self._given_up.is_set():
                await self._rest(self._judge(sitting))

    async def replace(self) -> bool:
        """Have a fresh process take over; False: it could not, and nothing has changed."""
        if self._given_up.is_set():
            return True
        try:
            new = self._start(self.number)
        except OSError as error:
            logger.error("cannot start a process: %s", error, extra={"worker": self.number})
            return False
        await asyncio.wait((new.ready, new.ended), return_when=asyncio.FIRST_COMPLETED)
        if new.ended.done():
            how = how_it_ended(new.ended.result())
            logger.error("the new worker %s; the old one stays", how, extra={"worker": self.number, "pid": new.pid})
            return False
        if self._given_up.is_set():
            new.stop()
            return True
        old, self.worker, self.refused = self.worker, new, False
        self._settled.set()
        if old is not None:
            old.stop()
            await old.ended
        return True

    def _judge(self, dead: Supervised) -> float:
        """Tell of an end that nobody asked for; the seconds to wait before the next start."""
        self.refused = dead.was_refused
        pause = self._restarts.pause(dead.lived)
        how, when = how_it_ended(dead.ended.result()), f"in {pause:.1f} s" if pause else "at once"
        logger.warning("worker %s; starting it again %s", how, when, extra={"worker": self.number, "pid": dead.pid})
        if self.refused:
            self._on_refused()
        return pause

    async def _rest(self, seconds: float) -> None:
        if self._given_up.is_set():
            return
        self._settled.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._settled.wait()
