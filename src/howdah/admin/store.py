"""What operators ask of the database, one operation per SQL file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from howdah.admin.filters import JobFilter
from howdah.admin.views import (
    Carried,
    EventData,
    JobLine,
    Lane,
    Pause,
    PauseKind,
    Recent,
    StatusCount,
    WorkerLine,
)
from howdah.db import arrays
from howdah.db.op import Operation, Row, Statement
from howdah.model.job import JobRecord
from howdah.model.status import Status

#: Where counting stops: nobody reads the difference between 10,000 and more.
COUNT_LIMIT = 10_000
#: Of ended jobs, so many of the newest are counted: about a tenth of a second.
LOOK_LIMIT = 100_000
#: The same for a page, which is asked for again and again.
GLANCE = 10_000


@dataclass(frozen=True, slots=True)
class Window:
    """A part of the ledger by id: below `before`, not below `floor`; None: no bound."""

    before: UUID | None = None
    floor: UUID | None = None


def find_ids(
    wanted: JobFilter, now: datetime, window: Window, limit: int, look: int
) -> Operation[tuple[list[UUID], UUID | None]]:
    """Jobs of the window that fit, newest first, among the first `look`; and the last of these, None: fewer."""
    place = {"before": window.before, "floor": window.floor, "limit": limit, "look": look}
    if wanted.is_deep:
        parameters = {**wanted.parameters(now), **wanted.deep_parameters(), **place}
        ids, last = (yield Statement("admin/find_ids_deep", parameters))[0]
    else:
        ids, last = (yield Statement("admin/find_ids", {**wanted.parameters(now), **place}))[0]
    return ids, last


def match_ids(
    wanted: JobFilter, now: datetime, ids: Sequence[UUID], before: UUID | None, limit: int
) -> Operation[list[UUID]]:
    """Those of the named jobs that fit, newest first, before that id."""
    place = {"ids": arrays.ids(ids), "before": before, "limit": limit}
    if wanted.is_deep:
        parameters = {**wanted.parameters(now), **wanted.deep_parameters(), **place}
        return _ids((yield Statement("admin/match_ids_deep", parameters)))
    return _ids((yield Statement("admin/match_ids", {**wanted.parameters(now), **place})))


def list_waiting_ids(wanted: JobFilter, most: int = COUNT_LIMIT) -> Operation[list[UUID] | None]:
    """What stands in the lines; None: more than `most` do, so look into the ledger instead."""
    conditions = {"job_type": wanted.job_type, "queue": wanted.queue, "most": most}
    capped, ids = (yield Statement("admin/list_waiting_ids", conditions))[0]
    return None if capped else ids


def list_held_ids(wanted: JobFilter, most: int = COUNT_LIMIT) -> Operation[list[UUID] | None]:
    """What the claims name; None: more than `most`, so look into the ledger instead."""
    capped, ids = (yield Statement("admin/list_held_ids", {"worker_id": wanted.worker_id, "most": most}))[0]
    return None if capped else ids


def list_lines(ids: Sequence[UUID]) -> Operation[list[JobLine]]:
    """These jobs, newest first, as they stand now."""
    return [_job_line(row) for row in (yield Statement("admin/list_lines", {"ids": arrays.ids(ids)}))]


def read_jobs(ids: Sequence[UUID]) -> Operation[list[JobRecord]]:
    """These jobs whole, newest first, as they stand now."""
    return [_job_record(row) for row in (yield Statement("admin/read_jobs", {"ids": arrays.ids(ids)}))]


def estimate_jobs() -> Operation[int]:
    """About how many jobs there are."""
    return int((yield Statement("admin/estimate_jobs"))[0][0])


def count_jobs(most: int = COUNT_LIMIT, newest: int = LOOK_LIMIT) -> Operation[list[StatusCount]]:
    """How many jobs have which status, in the order of a job's life; ended ones among the newest only."""
    rows = yield Statement("admin/count_jobs", {"most": most, "newest": newest})
    counts = {Status(status): StatusCount(Status(status), jobs, capped) for status, jobs, capped in rows}
    return [counts[status] for status in Status]


def list_lanes(most: int = COUNT_LIMIT) -> Operation[list[Lane]]:
    """Every queue and job type, and what waits there; a paused queue even if nothing was ever in it."""
    return [Lane(*row) for row in (yield Statement("admin/list_lanes", {"most": most}))]


def count_recent(newest: int = GLANCE) -> Operation[Recent]:
    """What the newest jobs did in the last minute."""
    return Recent(*(yield Statement("admin/count_recent", {"newest": newest}))[0])


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
    """Let nobody claim from it, off the record; False: it was so already."""
    rows = yield Statement("admin/pause", {"kind": str(kind), "name": name})
    return bool(rows[0][0])


def resume(kind: PauseKind, name: str) -> Operation[bool]:
    """Let everybody claim from it again, off the record; False: it was so already."""
    rows = yield Statement("admin/resume", {"kind": str(kind), "name": name})
    return bool(rows[0][0])


def read_clock() -> Operation[datetime]:
    """The server's time, by which all ages are told."""
    now: datetime = (yield Statement("admin/read_clock"))[0][0]
    return now


def is_read_only() -> Operation[bool]:
    """Whether the server refuses to write."""
    return bool((yield Statement("admin/is_read_only"))[0][0])


def _ids(rows: list[Row]) -> list[UUID]:
    return [row[0] for row in rows]


def _job_line(row: Row) -> JobLine:
    job_id, job_type, priority, status, *rest = row
    return JobLine(job_id, job_type, priority, Status(status), *rest)


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


def _job_record(row: Row) -> JobRecord:
    job_id, job_type, priority, status, *rest = row
    return JobRecord(job_id, job_type, priority, Status(status), *rest)
