"""The jobs that this process holds.

A held job goes: buffered → started → ended → acknowledged (then it is no longer held). It is held, and its
lease kept alive by the pulse, until the database has accepted its end or has said that the lease is lost.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from functools import partial
from typing import Any
from uuid import UUID

from howdah.model.context import JobContext
from howdah.payload.json_text import to_json
from howdah.worker.store import ClaimedJob

_encode_event = partial(to_json, what="event data")


class Stop(Enum):
    """Why a running handler is being interrupted."""

    CANCEL = auto()
    LOST = auto()
    SHUTDOWN = auto()


class Held:
    """One claimed job in this process. What most jobs never set stands in the class, not in each of them."""

    started: float | None = None
    marked = False
    #: Whether its start has been counted.
    noted = False
    #: Whether it has a span, where OpenTelemetry is used, and the trace's id.
    traced = False
    trace_id: str | None = None
    ended = False
    being_written = False
    stop: Stop | None = None
    interrupt: Callable[[], object] | None = None
    #: Cancels the task that runs it.
    cancel_task: Callable[[], object] | None = None
    lingering: asyncio.Future[Any] | None = None
    error_kind: str | None = None
    #: The context, if anything has asked for it yet.
    spoken: JobContext | None = None

    def __init__(self, job: ClaimedJob, admitted: float | None = None) -> None:
        self.job = job
        self.admitted = time.monotonic() if admitted is None else admitted

    @property
    def suspect(self) -> bool:
        """Whether a worker has died holding it: it may be the reason."""
        return self.job.deaths > 0

    @property
    def job_id(self) -> UUID:
        """The id as the rest of the world knows it."""
        return UUID(bytes=self.job.id)

    @property
    def context(self) -> JobContext:
        """What the handler sees of the job; made for the few that ask. On the event loop's thread only."""
        if self.spoken is None:
            job = self.job
            self.spoken = JobContext(
                self.job_id, job.job_type, job.queue, job.attempts, job.max_attempts, _encode_event
            )
        return self.spoken

    def about(self) -> dict[str, str]:
        """What a log line about it says."""
        job = self.job
        about = {"job_id": str(self.job_id), "job_type": job.job_type, "attempt": f"{job.attempts}/{job.max_attempts}"}
        if self.trace_id is not None:
            about["trace_id"] = self.trace_id
        return about

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


#: How soon a worker that nobody hears looks again whether it is heard.
AWAY_SECONDS = 0.05


class Holdings:
    """All held jobs, read by the pulse thread while the event loop changes them."""

    def __init__(self, silence: float = math.inf) -> None:
        self._lock = threading.Lock()
        self._held: dict[bytes, Held] = {}
        self._left_of_claim: Counter[int] = Counter()
        self._silence = silence
        self._touched = time.monotonic()

    def __len__(self) -> int:
        return len(self._held)

    def touch(self, when: float) -> None:
        """A heartbeat that was sent then has arrived."""
        self._touched = when

    @property
    def untouched_for(self) -> float:
        """Seconds since the last heartbeat that arrived was sent."""
        return time.monotonic() - self._touched

    @property
    def out_of_touch(self) -> bool:
        """Nobody has heard of this worker for longer than it may be silent, by an outage or because this process was
        stopped: what it holds may be another's by now. Until it is heard, it starts nothing and claims nothing."""
        return time.monotonic() - self._touched > self._silence

    def add(self, many: Sequence[Held]) -> None:
        """Jobs that were just claimed."""
        with self._lock:
            self._held.update({held.job.id: held for held in many})
            self._left_of_claim.update([held.job.claim for held in many])

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

    def settle(self) -> None:
        """Of jobs that had ended when this was called, the pulse takes no more words from now on. Those that it was
        about to take are marked as being written."""
        with self._lock:
            # begin_writing looks and marks under this lock: it has done both, or it will see that they have ended.
            pass

    def empties(self, ending: Iterable[Held]) -> list[int]:
        """Claims of which nothing is left once these have ended. Each held job may be counted once only."""
        empty = []
        with self._lock:
            for claim, count in Counter([held.job.claim for held in ending]).items():
                self._left_of_claim[claim] -= count
                if self._left_of_claim[claim] == 0:
                    del self._left_of_claim[claim]
                    empty.append(claim)
        return empty

    def recount(self, held: Held) -> None:
        """It has not ended after all: its claim is not empty."""
        with self._lock:
            self._left_of_claim[held.job.claim] += 1

    def drop(self, many: Iterable[Held]) -> None:
        """These are acknowledged or lost: they need no lease any more."""
        with self._lock:
            for held in many:
                # The same job may have been claimed again by this very worker meanwhile.
                if self._held.get(held.job.id) is held:
                    del self._held[held.job.id]
