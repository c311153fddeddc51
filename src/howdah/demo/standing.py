"""How a job of the demo stands, and how that is said in a few words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from howdah.model.status import Status

NOTE_LIMIT = 60


@dataclass(frozen=True, slots=True)
class Standing:
    """One row of demo/watch_jobs.sql."""

    id: UUID
    status: str
    progress: int
    stage: str | None
    worker: str | None
    attempts: int
    errors: int
    deaths: int
    started_at: datetime | None
    run_at: datetime | None
    due_in: float | None
    took: float
    last_error: str | None
    result: Any

    @property
    def finished(self) -> bool:
        """Whether it has ended, however it ended."""
        return Status(self.status).finished

    @property
    def held(self) -> bool:
        """Whether a worker has it."""
        return self.status in (Status.CLAIMED, Status.RUNNING)


@dataclass(frozen=True, slots=True)
class Line:
    """One job as a view shows it. `orphaned`: the worker that holds it is dead, and the queue does not know yet."""

    label: str
    standing: Standing
    orphaned: bool

    @property
    def state(self) -> str:
        """Its status in the words of somebody who watches."""
        job = self.standing
        if self.orphaned:
            return "orphaned"
        if job.held:
            return "running"
        if job.status != Status.PENDING:
            return job.status
        if job.due_in is not None and job.due_in > 0:
            return "retrying" if job.errors else "scheduled"
        return "waiting"

    @property
    def note(self) -> str:
        """What there is to say besides; changes only when something happened, so it holds no running clock."""
        job = self.standing
        match self.state:
            case "orphaned":
                note = f"worker {job.worker} is dead"
            case "running":
                note = job.stage or ""
            case "retrying":
                note = _last_line(job.last_error)
            case "waiting" if job.deaths:
                note = f"rescued, death {job.deaths}"
            case "completed":
                note = "" if job.result is None else _short_result(job.result)
            case "failed" | "cancelled":
                note = _last_line(job.last_error)
            case _:
                note = ""
        return note if len(note) <= NOTE_LIMIT else note[: NOTE_LIMIT - 1] + "…"


def _last_line(text: str | None) -> str:
    # Of a traceback, the line that says what was raised.
    lines = (text or "").strip().splitlines()
    return lines[-1].strip() if lines else ""


def _short_result(result: object) -> str:
    if isinstance(result, dict):
        return ", ".join(f"{name} {value}" for name, value in result.items())
    return str(result)
