"""What the client asks of the database, one operation per SQL file."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from howdah.client.copying import CopyRows
from howdah.db import arrays
from howdah.db.op import Operation, Statement
from howdah.model.job import JobEvent, JobRecord
from howdah.model.options import JobOptions
from howdah.model.status import Status

#: From this many on COPY; below, an array's single round trip. A guess (docs/decisions/0003).
COPY_FROM = 200
_ROWS_PER_CHUNK = 5000


def enqueue(
    job_id: UUID, job_type: str, data: str, options: JobOptions, *, alone: bool, trace: str | None = None
) -> Operation[None]:
    """One job; repeating it is safe. `alone`: in a transaction of its own. `trace`: of whoever enqueues it."""
    parameters = {"id": job_id, "job_type": job_type, "data": data, "alone": "on" if alone else "off", "trace": trace}
    yield Statement("client/enqueue", {**parameters, **_columns(options)})


def enqueue_many(
    ids: Sequence[UUID], job_type: str, data: Sequence[str], options: JobOptions, trace: str | None = None
) -> Operation[None]:
    """Many jobs of one type by COPY, or by arrays when they are few or traced. Call it inside a transaction."""
    if len(ids) < COPY_FROM or trace is not None:
        return (yield from repeat_many(ids, job_type, data, options, trace))
    due = options.run_at
    if options.delay is not None:
        due = (yield Statement("client/due_time", {"delay": options.delay}))[0][0]
    rows = CopyRows(ids, job_type, data, int(options.priority), options.queue, due, options.max_attempts)
    yield Statement("client/enqueue_copy", copy=rows)


def repeat_many(
    ids: Sequence[UUID], job_type: str, data: Sequence[str], options: JobOptions, trace: str | None = None
) -> Operation[None]:
    """The same as enqueue_many for ids that may be there already, because a reply was lost."""
    for start in range(0, len(ids), _ROWS_PER_CHUNK):
        chunk = slice(start, start + _ROWS_PER_CHUNK)
        parameters = {"ids": arrays.ids(ids[chunk]), "job_type": job_type, "data": arrays.texts(data[chunk])}
        yield Statement("client/enqueue_array", {**parameters, **_columns(options), "trace": trace})


def get_job(job_id: UUID) -> Operation[JobRecord | None]:
    """The job as it stands, or None."""
    rows = yield Statement("client/get_job", {"id": job_id})
    return read_job(rows[0]) if rows else None


def get_status(job_id: UUID) -> Operation[Status | None]:
    """Only the status, for those who ask often."""
    rows = yield Statement("client/get_status", {"id": job_id})
    return Status(rows[0][0]) if rows else None


def list_events(job_id: UUID, after: int) -> Operation[list[JobEvent]]:
    """The job's events after that number, in order."""
    rows = yield Statement("client/list_events", {"id": job_id, "after": after})
    return [JobEvent(*row) for row in rows]


def cancel(job_id: UUID) -> Operation[str | None]:
    """'cancelled', 'requested', or the status that the job has ended with; None: no such job."""
    rows = yield Statement("client/cancel", {"id": job_id})
    answer: str | None = rows[0][0]
    return answer


def retry(job_id: UUID) -> Operation[str | None]:
    """'pending', or the status that forbids it; None: no such job."""
    rows = yield Statement("client/retry", {"id": job_id})
    answer: str | None = rows[0][0]
    return answer


def read_job(row: Sequence[object]) -> JobRecord:
    """A row of get_job.sql as a record."""
    values = list(row)
    values[3] = Status(str(values[3]))
    return JobRecord(*values)  # type: ignore[arg-type]  # the SQL file fixes the columns; a test compares them


def _columns(options: JobOptions) -> dict[str, object]:
    return {
        "priority": int(options.priority),
        "queue": options.queue,
        "delay": options.delay,
        "run_at": options.run_at,
        "max_attempts": options.max_attempts,
    }
