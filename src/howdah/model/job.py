"""A job as it stands in the table, and an event that it published."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from howdah.model.status import Status


@dataclass(frozen=True, slots=True)
class JobRecord:
    """One row of the ledger, as it was when it was read. Fields in the order of client/get_job.sql."""

    id: UUID
    job_type: str
    priority: int
    status: Status
    data: dict[str, Any]
    progress: int
    current_stage: str | None
    events_count: int
    worker_id: str | None
    claimed_at: datetime | None
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    attempts: int
    max_attempts: int
    last_error: str | None
    queue: str
    run_at: datetime | None
    lease: int
    errors: int
    deaths: int
    cancel_requested_at: datetime | None
    result: Any


@dataclass(frozen=True, slots=True)
class JobEvent:
    """Something that a running job said: `seq` counts from 1 within the job."""

    seq: int
    at: datetime
    attempt: int
    name: str
    data: Any
