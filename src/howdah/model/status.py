"""The states of a job. Nothing else ever stands in the status column."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Where a job stands: pending → claimed → running → completed, failed or cancelled."""

    PENDING = "pending"
    CLAIMED = "claimed"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def finished(self) -> bool:
        """Whether the job has ended."""
        return self in (Status.COMPLETED, Status.FAILED, Status.CANCELLED)
