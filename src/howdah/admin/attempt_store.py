"""What became of a job's attempts, one operation per SQL file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from howdah.db.op import Operation, Statement


@dataclass(frozen=True, slots=True)
class Attempt:
    """One claim of a job. `outcome`: running, claimed, completed, failed, cancelled, error (it was tried again), died
    (its worker did) or returned (given back without a reason). admin/list_attempts.sql"""

    number: int
    outcome: str
    worker_id: str | None
    claimed_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    error: str | None = None

    @property
    def ran(self) -> timedelta | None:
        """How long the handler ran."""
        if self.started_at is None or self.ended_at is None:
            return None
        return self.ended_at - self.started_at


def list_attempts(job_id: UUID) -> Operation[list[Attempt]]:
    """Those that did not complete, newest first."""
    return [Attempt(*row) for row in (yield Statement("admin/list_attempts", {"id": job_id}))]
