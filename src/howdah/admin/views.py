"""What operators see: values as they were when they were read. Field order is that of the SQL file named."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from howdah.model.status import Status


class PauseKind(StrEnum):
    """What can be paused."""

    QUEUE = "queue"
    TYPE = "type"


@dataclass(frozen=True, slots=True)
class JobLine:
    """A job in a list: everything but its arguments and result. admin/list_lines.sql"""

    id: UUID
    job_type: str
    priority: int
    status: Status
    progress: int
    current_stage: str | None
    worker_id: str | None
    queue: str
    created_at: datetime
    run_at: datetime | None
    started_at: datetime | None
    completed_at: datetime | None
    attempts: int
    max_attempts: int
    cancel_requested_at: datetime | None
    error_end: str | None
    """The last 300 characters of last_error: a traceback says at its end what happened."""


@dataclass(frozen=True, slots=True)
class Page:
    """Jobs, newest first. `searched_to` is the last id looked at when the search was given up before it had filled the
    page: there may be more beyond it, and that id as `before` goes on. `looked`: at how many jobs, if the ledger was
    searched."""

    jobs: list[JobLine]
    searched_to: UUID | None = None
    looked: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """As Page, but only the jobs' ids."""

    ids: list[UUID]
    searched_to: UUID | None = None
    looked: int = 0


@dataclass(frozen=True, slots=True)
class Count:
    """How many jobs fit. `exact`: all that there are. Otherwise `jobs` were found before the search was given up, and
    `estimate` is about how many there may be (None: nobody knows)."""

    jobs: int
    exact: bool
    estimate: int | None = None

    @property
    def words(self) -> str:
        """As people read it: 12, 10,000+, about 2,000,000."""
        if self.exact:
            return f"{self.jobs:,}"
        if self.estimate is None or self.estimate <= self.jobs:
            return f"{self.jobs:,}+"
        return f"about {self.estimate:,}"


@dataclass(frozen=True, slots=True)
class StatusCount:
    """How many jobs have a status; `capped`: at least. admin/count_jobs.sql"""

    status: Status
    jobs: int
    capped: bool


@dataclass(frozen=True, slots=True)
class Lane:
    """What waits of one job type in one queue; no type: the queue is paused, and no job was ever in it.
    admin/list_lanes.sql"""

    queue: str
    job_type: str | None
    ready: int
    ready_capped: bool
    scheduled: int
    scheduled_capped: bool
    queue_paused: bool
    type_paused: bool
    live_workers: int
    oldest_at: datetime | None = None
    """When the oldest job that is ready was created."""


@dataclass(frozen=True, slots=True)
class Recent:
    """What the newest jobs did in the last minute. `covered`: seconds that they reach back; None: they are all
    jobs that there are. Where many jobs wait, more may have ended than these. admin/count_recent.sql"""

    created: int
    completed: int
    failed: int
    cancelled: int
    covered: float | None

    def per_second(self, jobs: int) -> float:
        """One of these counts as a rate, over no more time than the newest jobs cover."""
        return jobs / (60.0 if self.covered is None else max(1.0, min(60.0, self.covered)))


@dataclass(frozen=True, slots=True)
class WorkerLine:
    """A worker, alive or silent. admin/list_workers.sql"""

    id: str
    started_at: datetime
    heartbeat_at: datetime
    silence: timedelta
    alive: bool
    queues: list[str]
    job_types: list[str]
    info: dict[str, Any]
    jobs: int
    load: dict[str, Any]
    """What it last said of itself: running, buffered, slots, memory, lag; empty where it says nothing."""


@dataclass(frozen=True, slots=True)
class Pause:
    """A queue or job type that nobody may claim from. admin/list_pauses.sql"""

    kind: PauseKind
    name: str
    paused_at: datetime


@dataclass(frozen=True, slots=True)
class Carried:
    """What a job carries and left behind, as text. admin/lock_jobs_at_rest.sql"""

    id: UUID
    job_type: str
    data: str
    result: str | None
    last_error: str | None


@dataclass(frozen=True, slots=True)
class EventData:
    """What an event carries, as text; None: nothing, or it is sealed as it should be. admin/lock_stale_events.sql"""

    job_id: UUID
    seq: int
    name: str
    data: str | None
