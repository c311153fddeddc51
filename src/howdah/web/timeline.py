"""A job's attempts: what was kept of those that ended badly, and the job as it stands."""

from __future__ import annotations

from collections.abc import Sequence

from howdah.admin.attempt_store import Attempt
from howdah.model.job import JobRecord
from howdah.model.status import Status


def attempts_of(record: JobRecord, ended: Sequence[Attempt]) -> list[Attempt]:
    """All attempts that are known of, the newest first."""
    known = {attempt.number: attempt for attempt in ended}
    current = _current(record)
    if current is not None and (current.number not in known or not record.status.finished):
        known[current.number] = current
    return [known[number] for number in sorted(known, reverse=True)]


def _current(record: JobRecord) -> Attempt | None:
    if record.attempts == 0 or record.claimed_at is None:
        return None
    ended = record.completed_at if record.status.finished else None
    error = record.last_error if record.status in (Status.FAILED, Status.CANCELLED) else None
    return Attempt(
        record.attempts, str(record.status), record.worker_id, record.claimed_at, record.started_at, ended, error
    )
