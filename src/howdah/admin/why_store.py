"""What the reasons for a job's waiting are found from, one operation per SQL file. Field order is that of the file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from howdah.db.op import Operation, Statement
from howdah.model.status import Status


@dataclass(frozen=True, slots=True)
class Case:
    """A job, and the database's time when it was looked at."""

    id: UUID
    job_type: str
    queue: str
    priority: int
    status: Status
    created_at: datetime
    run_at: datetime | None
    claimed_at: datetime | None
    started_at: datetime | None
    completed_at: datetime | None
    attempts: int
    max_attempts: int
    errors: int
    deaths: int
    cancel_requested_at: datetime | None
    worker_id: str | None
    error_start: str | None
    now: datetime


@dataclass(frozen=True, slots=True)
class Server:
    """A live worker as seen from one job. `slots`: how many jobs it runs at once, if it says so."""

    id: str
    knows_type: bool
    serves_queue: bool
    slots: int | None
    held: int


def get_line(job_id: UUID) -> Operation[Case | None]:
    """The job, or None."""
    rows = yield Statement("admin/get_line", {"id": job_id})
    if not rows:
        return None
    one, job_type, queue, priority, status, *rest = rows[0]
    return Case(one, job_type, queue, priority, Status(status), *rest)


def list_servers(case: Case, most: int) -> Operation[list[Server]]:
    """Every live worker."""
    parameters = {"job_type": case.job_type, "queue": case.queue, "most": most}
    return [Server(*row) for row in (yield Statement("admin/list_servers", parameters))]


def count_ahead(case: Case, most: int) -> Operation[int]:
    """How many ready jobs come before it; `most`: at least."""
    place = {"priority": case.priority, "created_at": case.created_at, "id": case.id}
    parameters = {"job_type": case.job_type, "queue": case.queue, "most": most, **place}
    return int((yield Statement("admin/count_ahead", parameters))[0][0])
