"""What operators ask of the database, one operation per SQL file."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from howdah.admin.views import Carried, EventData, JobFilter, JobLine, Lane, Pause, PauseKind, StatusCount, WorkerLine
from howdah.db import arrays
from howdah.db.op import Operation, Row, Statement
from howdah.model.status import Status

#: Where counting stops: nobody reads the difference between 10,000 and more.
COUNT_LIMIT = 10_000
#: Jobs that a search of the ledger looks at before it gives up: about a tenth of a second.
LOOK_LIMIT = 100_000


def list_ledger(wanted: JobFilter, before: UUID | None, limit: int, look: int) -> Operation[list[JobLine]]:
    """Jobs newest first, before that id, among no more than `look`."""
    rows = yield Statement("admin/list_ledger", {**_conditions(wanted), "before": before, "limit": limit, "look": look})
    return [_job_line(row) for row in rows]


def find_search_end(before: UUID | None, look: int) -> Operation[UUID | None]:
    """The last id that a search of `look` jobs comes to; None: the ledger ends before that."""
    rows = yield Statement("admin/find_search_end", {"before": before, "look": look})
    return rows[0][0] if rows else None


def list_waiting(
    wanted: JobFilter, before: UUID | None, limit: int, most: int = COUNT_LIMIT
) -> Operation[list[JobLine] | None]:
    """Pending jobs newest first; None: more than `most` wait, so look into the ledger instead."""
    conditions = {"job_type": wanted.job_type, "queue": wanted.queue, "before": before, "limit": limit, "most": most}
    return _unless_capped((yield Statement("admin/list_waiting", conditions)))


def list_held(
    wanted: JobFilter, before: UUID | None, limit: int, most: int = COUNT_LIMIT
) -> Operation[list[JobLine] | None]:
    """Claimed and running jobs newest first; None: more than `most` are held, so look into the ledger instead."""
    conditions = {**_conditions(wanted), "before": before, "limit": limit, "most": most}
    return _unless_capped((yield Statement("admin/list_held", conditions)))


def count_jobs(most: int = COUNT_LIMIT, newest: int = LOOK_LIMIT) -> Operation[list[StatusCount]]:
    """How many jobs have which status, in the order of a job's life; ended ones among the newest only."""
    rows = yield Statement("admin/count_jobs", {"most": most, "newest": newest})
    counts = {Status(status): StatusCount(Status(status), jobs, capped) for status, jobs, capped in rows}
    return [counts[status] for status in Status]


def list_lanes(most: int = COUNT_LIMIT) -> Operation[list[Lane]]:
    """Every queue and job type, and what waits there; a paused queue even if nothing was ever in it."""
    return [Lane(*row) for row in (yield Statement("admin/list_lanes", {"most": most}))]


def list_workers(most: int = COUNT_LIMIT) -> Operation[list[WorkerLine]]:
    """Every worker that sends, or lately sent, heartbeats."""
    return [WorkerLine(*row) for row in (yield Statement("admin/list_workers", {"most": most}))]


def list_pauses() -> Operation[list[Pause]]:
    """What is paused."""
    rows = yield Statement("admin/list_pauses")
    return [Pause(PauseKind(kind), name, paused_at) for kind, name, paused_at in rows]


def list_unknown_types(job_types: Sequence[str]) -> Operation[set[str]]:
    """Those of the job types that no live worker knows."""
    rows = yield Statement("admin/list_unknown_types", {"job_types": list(job_types)})
    return {row[0] for row in rows}


def is_served(job_type: str | None = None, queue: str | None = None) -> Operation[bool]:
    """Whether a live worker serves that type in that queue; None: any."""
    return bool((yield Statement("admin/is_served", {"job_type": job_type, "queue": queue}))[0][0])


def is_known(kind: PauseKind, name: str) -> Operation[bool]:
    """Whether any job or worker has ever named that queue or type."""
    return bool((yield Statement("admin/is_known", {"kind": str(kind), "name": name}))[0][0])


def pause(kind: PauseKind, name: str) -> Operation[bool]:
    """Let nobody claim from it; False: it was so already."""
    rows = yield Statement("admin/pause", {"kind": str(kind), "name": name})
    return bool(rows[0][0])


def resume(kind: PauseKind, name: str) -> Operation[bool]:
    """Let everybody claim from it again; False: it was so already."""
    rows = yield Statement("admin/resume", {"kind": str(kind), "name": name})
    return bool(rows[0][0])


def is_read_only() -> Operation[bool]:
    """Whether the server refuses to write."""
    return bool((yield Statement("admin/is_read_only"))[0][0])


def _conditions(wanted: JobFilter) -> dict[str, object]:
    return {
        "statuses": [str(status) for status in wanted.statuses] or None,
        "job_type": wanted.job_type,
        "queue": wanted.queue,
        "worker_id": wanted.worker_id,
    }


def _job_line(row: Row) -> JobLine:
    job_id, job_type, priority, status, *rest = row
    return JobLine(job_id, job_type, priority, Status(status), *rest)


def _unless_capped(rows: list[Row]) -> list[JobLine] | None:
    return None if rows[0][0] else [_job_line(row[1:]) for row in rows if row[1] is not None]


def look_for_stale_jobs(key: str | None, after: UUID | None, limit: int) -> Operation[list[tuple[UUID, bool]]]:
    """Ids after that one, and whether something of the job is not sealed with that key."""
    rows = yield Statement("admin/look_for_stale_jobs", {"key": key, "after": after, "limit": limit})
    return [(row[0], row[1]) for row in rows]


def lock_jobs_at_rest(ids: Sequence[UUID]) -> Operation[list[Carried]]:
    """What those of the jobs carry that no worker holds; they are locked until the end of the transaction."""
    return [Carried(*row) for row in (yield Statement("admin/lock_jobs_at_rest", {"ids": arrays.ids(ids)}))]


def replace_carried(jobs: Sequence[Carried]) -> Operation[None]:
    """Write it anew."""
    yield Statement(
        "admin/replace_carried",
        {
            "ids": arrays.ids([job.id for job in jobs]),
            "data": arrays.texts([job.data for job in jobs]),
            "results": arrays.texts([job.result for job in jobs]),
            "errors": arrays.texts([job.last_error for job in jobs]),
        },
    )


def lock_stale_events(key: str | None, after: tuple[UUID, int] | None, limit: int) -> Operation[list[EventData]]:
    """Events after that one; data only of those that are not sealed with that key."""
    job_id, seq = after if after is not None else (None, None)
    rows = yield Statement("admin/lock_stale_events", {"key": key, "job_id": job_id, "seq": seq, "limit": limit})
    return [EventData(*row) for row in rows]


def replace_event_data(events: Sequence[EventData]) -> Operation[None]:
    """Write it anew."""
    yield Statement(
        "admin/replace_event_data",
        {
            "job_ids": arrays.ids([event.job_id for event in events]),
            "seqs": arrays.numbers([event.seq for event in events]),
            "data": arrays.texts([event.data for event in events]),
        },
    )
