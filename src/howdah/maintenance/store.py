"""What maintenance asks of the database, one operation per SQL file."""

from __future__ import annotations

from collections.abc import Sequence
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


@dataclass(frozen=True, slots=True)
class Turn:
    """What it is this worker's turn to do."""

    sweep: bool
    sample: bool


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


def note_rescues(rescued: Sequence[Rescued]) -> Operation[list[tuple[tuple[str, str], int]]]:
    """Write down that these were rescued; how many of each job type and queue."""
    parameters = {"ids": [job.job_id for job in rescued], "statuses": [job.status for job in rescued]}
    rows = yield Statement("maintenance/note_rescues", parameters)
    return [((row[1], row[0]), row[2]) for row in rows]


def begin_turn(sweep_every: timedelta, sample_every: timedelta) -> Operation[Turn]:
    """Whether it is this worker's turn to look after retention, and to look at what waits."""
    rows = yield Statement("maintenance/begin_turn", {"sweep_every": sweep_every, "sample_every": sample_every})
    return Turn(*rows[0])


def sample_queues() -> Operation[None]:
    """Write down how much waits."""
    yield Statement("maintenance/sample_queues")


def prune_stats() -> Operation[None]:
    """Remove what was done too long ago to be shown."""
    yield Statement("maintenance/prune_stats")


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


def sweep_audit() -> Operation[int]:
    """Remove what is past its retention from the audit; how many entries went, at most a few thousand."""
    return int((yield Statement("maintenance/sweep_audit"))[0][0])


def sweep_late() -> Operation[None]:
    """Remove what every worker has read from the list of what committed late."""
    yield Statement("maintenance/sweep_late")
