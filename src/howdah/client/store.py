"""What the client asks of the database, one operation per SQL file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from uuid import UUID

from howdah.db import arrays
from howdah.db.op import Operation, Statement
from howdah.model.job import JobEvent, JobRecord
from howdah.model.options import JobOptions
from howdah.model.status import Status

#: From this many on COPY; below, an array's single round trip. A guess (docs/decisions/0003).
COPY_FROM = 200
_ROWS_PER_CHUNK = 5000
#: Of a COPY, what is made while the server takes in the part before.
_ROWS_PER_WRITE = 1000


def enqueue(job_id: UUID, job_type: str, data: str, options: JobOptions, *, alone: bool) -> Operation[None]:
    """One job; repeating it is safe. `alone`: in a transaction of its own."""
    parameters = {"id": job_id, "job_type": job_type, "data": data, "alone": "on" if alone else "off"}
    yield Statement("client/enqueue", {**parameters, **_columns(options)})


def enqueue_many(ids: Sequence[UUID], job_type: str, data: Sequence[str], options: JobOptions) -> Operation[None]:
    """Many jobs of one type by COPY, or by one array when they are few. Call it inside a transaction."""
    if len(ids) < COPY_FROM:
        return (yield from repeat_many(ids, job_type, data, options))
    if options.delay is not None:
        rows = yield Statement("client/due_time", {"delay": options.delay})
        options = replace(options, delay=None, run_at=None)
        due = str(rows[0][0])
    else:
        due = r"\N" if options.run_at is None else options.run_at.isoformat()
    tail = "\t".join((str(int(options.priority)), _copy_text(options.queue), due, str(options.max_attempts)))
    yield Statement("client/enqueue_copy", copy=_copy_rows(ids, _copy_text(job_type), data, tail))


def repeat_many(ids: Sequence[UUID], job_type: str, data: Sequence[str], options: JobOptions) -> Operation[None]:
    """The same as enqueue_many for ids that may be there already, because a reply was lost."""
    for start in range(0, len(ids), _ROWS_PER_CHUNK):
        chunk = slice(start, start + _ROWS_PER_CHUNK)
        parameters = {"ids": arrays.ids(ids[chunk]), "job_type": job_type, "data": arrays.texts(data[chunk])}
        yield Statement("client/enqueue_array", {**parameters, **_columns(options)})


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


def _copy_rows(ids: Sequence[UUID], job_type: str, data: Sequence[str], tail: str) -> Iterator[str]:
    for start in range(0, len(ids), _ROWS_PER_WRITE):
        chunk = slice(start, start + _ROWS_PER_WRITE)
        yield "".join(
            f"{job_id}\t{job_type}\t{_copy_text(text)}\t{tail}\n"
            for job_id, text in zip(ids[chunk], data[chunk], strict=True)
        )


def _copy_text(text: str) -> str:
    if "\\" in text:
        text = text.replace("\\", "\\\\")
    if "\t" in text or "\n" in text or "\r" in text:
        text = text.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
    return text
