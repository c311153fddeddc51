"""What maintenance asks of the database, one operation per SQL file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from howdah.db.op import Operation, Statement


@dataclass(frozen=True, slots=True)
class Rescued:
    """A job taken from a silent or dead worker, and what became of it."""

    job_id: UUID
    status: str
    deaths: int
    worker_id: str


def rescue() -> Operation[list[Rescued]]:
    """Take back what silent workers hold."""
    return [Rescued(*row) for row in (yield Statement("maintenance/rescue"))]


def bury(worker_id: str) -> Operation[list[Rescued]]:
    """Take back what this worker holds: somebody has seen its process end."""
    return [Rescued(*row) for row in (yield Statement("maintenance/bury", {"worker_id": worker_id}))]


def look() -> Operation[None]:
    """Whether the database answers."""
    yield Statement("worker/ping")


def create_next_partition() -> Operation[bool]:
    """Make one missing partition; False when none is missing."""
    rows = yield Statement("maintenance/create_next_partition")
    return bool(rows[0][0])


def begin_sweep(every: timedelta) -> Operation[bool]:
    """Whether it is this worker's turn to look after retention."""
    rows = yield Statement("maintenance/begin_sweep", {"every": every})
    return bool(rows[0][0])


def drop_expired_partition() -> Operation[str | None]:
    """Drop one partition that is wholly past its retention; its name, or None."""
    rows = yield Statement("maintenance/drop_expired_partition")
    name: str | None = rows[0][0]
    return name


def delete_expired_jobs(limit: int) -> Operation[int]:
    """Delete at most that many expired jobs from partitions that cannot be dropped."""
    rows = yield Statement("maintenance/delete_expired_jobs", {"limit": limit})
    return int(rows[0][0])


def sweep_lanes() -> Operation[None]:
    """Remove doubles from the list of lanes."""
    yield Statement("maintenance/sweep_lanes")


def sweep_late() -> Operation[None]:
    """Remove what every worker has read from the list of what committed late."""
    yield Statement("maintenance/sweep_late")
