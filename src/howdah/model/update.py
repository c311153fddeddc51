"""What a watcher is told of a job: how it stands, what it said since the last time, and when it may be done."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from howdah.model.job import JobEvent
from howdah.model.status import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """One job as it stood at a look, and the events that it published since the watcher's last update of it.

    `eta`: how long the rest will take if it goes on as it went so far in this attempt; None: nobody can say.
    `elapsed`: how long this attempt has run. `attempt` counts from 1; 0: it was never claimed.
    `error`: the end of the last error's text, where this role may read it. `gone`: the job was deleted while it
    was watched, and everything else here is what was last known.
    """

    job_id: UUID
    job_type: str
    queue: str
    priority: int
    status: Status
    progress: int
    stage: str | None
    attempt: int
    max_attempts: int
    worker_id: str | None
    created_at: datetime
    run_at: datetime | None
    started_at: datetime | None
    completed_at: datetime | None
    cancel_requested: bool
    error: str | None
    events_count: int
    elapsed: timedelta | None = None
    eta: timedelta | None = None
    events: tuple[JobEvent, ...] = ()
    gone: bool = False

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen to the job, unless somebody retries it."""
        return self.gone or self.status.finished


def time_left(progress: int, elapsed: timedelta, silent: timedelta = timedelta(0)) -> timedelta | None:
    """How long the rest will take at the pace so far. `elapsed`: how long the job had run when it reported this
    progress; `silent`: how long ago that was. Nothing can be said before the first percent."""
    if not 0 < progress < 100 or elapsed < timedelta(0):
        return None
    return max(timedelta(0), elapsed * (100 - progress) / progress - silent)
