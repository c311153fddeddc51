"""The jobs that this process holds.

A held job goes: buffered → started → ended → acknowledged (then it is no longer held). It is held, and its
lease kept alive by the pulse, until the database has accepted its end or has said that the lease is lost.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any
from uuid import UUID

from howdah.model.context import JobContext
from howdah.worker.store import ClaimedJob


class Stop(Enum):
    """Why a running handler is being interrupted."""

    CANCEL = auto()
    LOST = auto()
    SHUTDOWN = auto()


@dataclass(slots=True, eq=False)
class Held:
    """One claimed job in this process."""

    job: ClaimedJob
    context: JobContext
    started: float | None = None
    marked: bool = False
    ended: bool = False
    being_written: bool = False
    stop: Stop | None = None
    interrupt: Callable[[], object] | None = None
    lingering: asyncio.Future[Any] | None = None
    error_kind: str | None = None
    admitted: float = field(default_factory=time.monotonic)

    @property
    def suspect(self) -> bool:
        """Whether a worker has died holding it: it may be the reason."""
        return self.job.deaths > 0

    def ran(self) -> float:
        """Seconds since its handler started."""
        return 0.0 if self.started is None else time.monotonic() - self.started

    def interrupt_for(self, reason: Stop) -> None:
        """Interrupt the handler if it can be interrupted, and let it know. Runs on the event loop."""
        if reason is Stop.CANCEL:
            self.context.mark_cancelled()
        elif reason is Stop.LOST:
            self.context.mark_lost()
        # Being lost outranks all: what it ends with is not written. Otherwise the first reason stands.
        if reason is Stop.LOST or self.stop is None:
            self.stop = reason
        if not self.ended and self.interrupt is not None:
            self.interrupt()


class Holdings:
    """All held jobs, read by the pulse thread while the event loop changes them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[UUID, Held] = {}
        self._left_of_claim: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._held)

    def add(self, many: Iterable[Held]) -> None:
        """Jobs that were just claimed."""
        with self._lock:
            for held in many:
                self._held[held.job.id] = held
                claim = held.job.claim
                self._left_of_claim[claim] = self._left_of_claim.get(claim, 0) + 1

    def all(self) -> list[Held]:
        """A copy that the caller may walk through."""
        with self._lock:
            return list(self._held.values())

    def begin_writing(self) -> list[Held]:
        """Started jobs whose words the pulse may take now; none of them ends until end_writing, or has ended."""
        with self._lock:
            speaking = [held for held in self._held.values() if held.started is not None and not held.ended]
            for held in speaking:
                held.being_written = True
        return speaking

    def end_writing(self, many: Iterable[Held]) -> None:
        """What the pulse took of these is written."""
        for held in many:
            held.being_written = False

    def end(self, held: Held) -> None:
        """The handler has ended: from now on only the acker speaks for this job."""
        with self._lock:
            held.ended = True

    def find(self, job_id: UUID) -> Held | None:
        """The held job with that id."""
        return self._held.get(job_id)

    def empties(self, ending: Iterable[Held]) -> list[int]:
        """Claims of which nothing is left once these have ended. Each held job may be counted once only."""
        empty = []
        with self._lock:
            for held in ending:
                claim = held.job.claim
                self._left_of_claim[claim] -= 1
                if self._left_of_claim[claim] == 0:
                    del self._left_of_claim[claim]
                    empty.append(claim)
        return empty

    def recount(self, held: Held) -> None:
        """It has not ended after all: its claim is not empty."""
        with self._lock:
            self._left_of_claim[held.job.claim] = self._left_of_claim.get(held.job.claim, 0) + 1

    def drop(self, many: Iterable[Held]) -> None:
        """These are acknowledged or lost: they need no lease any more."""
        with self._lock:
            for held in many:
                # The same job may have been claimed again by this very worker meanwhile.
                if self._held.get(held.job.id) is held:
                    del self._held[held.job.id]
