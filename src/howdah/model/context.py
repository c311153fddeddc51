"""What a handler sees of its own job. Calling it costs no I/O: the worker picks up the latest within a second.

Handlers call from the event loop, from threads or from child processes; the worker reads from its pulse thread. Hence
the lock: a report is taken whole.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from howdah.model.errors import JobCancelled, LeaseLost, OptionError, shown

STAGE_LIMIT = 100
EVENT_NAME_LIMIT = 100
#: More unsent events than this wait for nobody: the oldest job of a torrent must not eat the worker's memory.
EVENTS_WAITING_LIMIT = 10_000


@dataclass(slots=True)
class Report:
    """What a job said since the last time it was asked."""

    progress: int | None = None
    stage: str | None = None
    #: (number within this claim, name, data as JSON text, when on the monotonic clock)
    events: list[tuple[int, str, str | None, float]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.progress is not None or self.stage is not None or bool(self.events)


class JobContext:
    """The running job, as its handler sees it."""

    def __init__(
        self,
        job_id: UUID,
        job_type: str,
        queue: str,
        attempt: int,
        max_attempts: int,
        encode: Callable[[object], str],
    ) -> None:
        self.job_id = job_id
        self.job_type = job_type
        self.queue = queue
        self.attempt = attempt
        self.max_attempts = max_attempts
        self._encode = encode
        self._lock = threading.Lock()
        self._waiting = Report()
        self._highest = 0
        self._events = 0
        # Plain flags: one thread sets them, others read them, and a job should not cost two event objects.
        self._cancelled = False
        self._lost = False

    def progress(self, percent: float, stage: str | None = None) -> None:
        """Say how far the job is (0 to 100, never backwards) and, if given, what it is doing now."""
        if isinstance(percent, bool) or not isinstance(percent, int | float) or percent != percent:
            raise OptionError(f"progress takes a number from 0 to 100, not {shown(percent)}")
        # Bounded first: infinity has no whole number, and an endless one no float.
        whole = int(max(0, min(100, percent)))
        with self._lock:
            if whole > self._highest:
                self._highest = self._waiting.progress = whole
            if stage is not None:
                self._waiting.stage = clean_stage(stage)

    def event(self, name: str, data: object = None) -> None:
        """Publish something that happened; kept in order and readable with job.events()."""
        if not isinstance(name, str) or not 1 <= len(name) <= EVENT_NAME_LIMIT or not is_storable(name):
            limits = f"1 to {EVENT_NAME_LIMIT} characters, none of them NUL or half a surrogate"
            raise OptionError(f"an event's name has {limits}; got {shown(name)}")
        text = None if data is None else self._encode(data)
        with self._lock:
            if len(self._waiting.events) >= EVENTS_WAITING_LIMIT:
                raise OptionError(
                    f"more than {EVENTS_WAITING_LIMIT} events in a second; publish fewer, or write them elsewhere"
                )
            self._events += 1
            self._waiting.events.append((self._events, name, text, time.monotonic()))

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked for this job to be cancelled."""
        return self._cancelled

    @property
    def lost(self) -> bool:
        """Whether this worker has lost the job: whatever it writes now is refused."""
        return self._lost

    def check(self) -> None:
        """Raise if the job was cancelled or lost: for handlers in threads, which nobody can interrupt."""
        if self.lost:
            raise LeaseLost()
        if self.cancelled:
            raise JobCancelled()

    # What follows is for the worker.

    def take_report(self) -> Report:
        """What was said since the last call; the caller now owns it."""
        with self._lock:
            report, self._waiting = self._waiting, Report()
        return report

    def add_report(self, report: Report) -> None:
        """What the same job said in another process, since what it said there before."""
        with self._lock:
            waiting = self._waiting
            if report.progress is not None and report.progress > self._highest:
                self._highest = waiting.progress = report.progress
            if report.stage is not None:
                waiting.stage = report.stage
            for _, name, text, at in report.events:
                self._events += 1
                waiting.events.append((self._events, name, text, at))

    def put_back(self, report: Report) -> None:
        """A report that could not be written: newer words win, events keep their order."""
        with self._lock:
            newer = self._waiting
            self._waiting = Report(
                newer.progress if newer.progress is not None else report.progress,
                newer.stage if newer.stage is not None else report.stage,
                report.events + newer.events,
            )

    def mark_cancelled(self) -> None:
        """Somebody asked for this job to be cancelled."""
        self._cancelled = True

    def mark_lost(self) -> None:
        """Another claim has the job, or it has ended."""
        self._lost = True


def is_storable(text: str) -> bool:
    """Whether PostgreSQL can hold this text: no NUL, no half of a surrogate pair."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def clean_stage(stage: object) -> str:
    """A stage that the table can hold: a long one is cut, not refused, because it is only for people to read."""
    try:
        # A container may be endless when written out, and a description may fail.
        text = shown(stage) if isinstance(stage, list | tuple | dict | set) else str(stage)
    except Exception:
        text = shown(stage)
    text = text.replace("\0", "�").encode(errors="replace").decode()
    return text if len(text) <= STAGE_LIMIT else text[: STAGE_LIMIT - 1] + "…"
