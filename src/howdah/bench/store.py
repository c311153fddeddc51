"""What the bench asks of the database, one operation per SQL file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from howdah.bench.counters import Counters
from howdah.db import arrays
from howdah.db.op import Operation, Statement

#: Number of the first job, how many, and how many there are to be in all.
Chunk = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Server:
    """One row of bench/read_server.sql."""

    version: str
    fsync: str
    synchronous_commit: str
    full_page_writes: str
    shared_buffers: str
    max_connections: int
    connections: int
    backend_pid: int
    by_socket: bool


def set_schema(schema: str, mark: str) -> Operation[None]:
    """Name the schema that make_schema and drop_schema are about."""
    yield Statement("bench/set_schema", {"schema": schema, "mark": mark})


def find_schema(schema: str) -> Operation[tuple[bool, str | None]]:
    """Whether it is there, and its comment."""
    rows = yield Statement("bench/find_schema", {"schema": schema})
    return bool(rows), rows[0][0] if rows else None


def make_schema() -> Operation[None]:
    """The schema that set_schema named, with the bench's mark."""
    yield Statement("bench/make_schema")


def drop_schema() -> Operation[None]:
    """Remove it, if it bears the mark."""
    yield Statement("bench/drop_schema")


def lock_schema(schema: str) -> Operation[bool]:
    """False: another bench is at work there."""
    rows = yield Statement("bench/lock_schema", {"schema": schema})
    return bool(rows[0][0])


def make_floor() -> Operation[None]:
    """The floor's tables."""
    yield Statement("bench/make_floor")


def empty() -> Operation[None]:
    """All tables as new, Howdah's and the floor's."""
    yield Statement("bench/empty_tables")
    yield Statement("bench/empty_floor")


def floor_fill(first: int, jobs: int, pad: int) -> Operation[None]:
    """Pending jobs for the floor."""
    yield Statement("bench/floor_fill", {"first": first, "jobs": jobs, "pad": pad})


def floor_copy(ids: Sequence[UUID], rows: str) -> Operation[None]:
    """Many jobs for the floor, rendered as COPY takes them. Call it inside a transaction."""
    yield Statement("bench/floor_copy", copy=lambda encoding: [rows.encode(encoding)])
    yield Statement("bench/floor_line_up", {"first": ids[0], "last": ids[-1]})


def floor_settings() -> Operation[None]:
    """Leave the planner no choice on this connection."""
    yield Statement("bench/floor_settings")


def floor_enqueue(job_id: UUID, data: str) -> Operation[None]:
    """One job for the floor, and a notification of it."""
    yield Statement("bench/floor_enqueue", {"id": job_id, "data": data})


def floor_listen() -> Operation[None]:
    """Have those notifications sent to this connection."""
    yield Statement("bench/floor_listen")


def floor_claim(batch: int) -> Operation[tuple[str | None, list[str]]]:
    """The next jobs: all ids as one text, and the data of each."""
    rows = yield Statement("bench/floor_claim", {"batch": batch})
    _, ids, data = rows[0]
    return ids, data.split("\n") if data else []


def floor_complete(ids: str) -> Operation[None]:
    """They ran."""
    yield Statement("bench/floor_complete", {"ids": ids})


def floor_round(batch: int) -> Operation[int]:
    """Claim and complete; how many."""
    rows = yield Statement("bench/floor_claim", {"batch": batch})
    count, ids, _ = rows[0]
    if count:
        yield from floor_complete(ids)
    return int(count)


def floor_check() -> Operation[tuple[int, int]]:
    """How many jobs there are, and how many ran exactly once."""
    rows = yield Statement("bench/floor_check")
    return rows[0][0], rows[0][1]


def read_counters(schema: str, *, floor: bool) -> Operation[Counters]:
    """What the server has counted so far."""
    rows = yield Statement("bench/read_counters", {"schema": schema, "floor": floor})
    return Counters(*rows[0])


def count_unfinished(ids: Sequence[UUID]) -> Operation[int]:
    """How many of these have not completed."""
    rows = yield Statement("bench/count_unfinished", {"ids": arrays.ids(ids)})
    return int(rows[0][0])


def check_jobs(first: UUID, last: UUID, job_type: str, priority: int) -> Operation[tuple[int, int, int]]:
    """All of that range, completed ones, completed at their first attempt."""
    parameters = {"first": first, "last": last, "job_type": job_type, "priority": priority}
    rows = yield Statement("bench/check_jobs", parameters)
    return rows[0][0], rows[0][1], rows[0][2]


def check_everything(job_type: str = "noop", priority: int = 100) -> Operation[tuple[int, int, int]]:
    """The same of all ids there can be."""
    return (yield from check_jobs(UUID(int=0), UUID(int=2**128 - 1), job_type, priority))


def count_workers() -> Operation[int]:
    """How many have registered."""
    rows = yield Statement("bench/count_workers")
    return int(rows[0][0])


def read_server() -> Operation[Server]:
    """Which server this is."""
    rows = yield Statement("bench/read_server")
    return Server(*rows[0])


def hold_settings(*, read_only: bool) -> Operation[None]:
    """REPEATABLE READ from the next transaction on."""
    yield Statement("bench/hold_settings", {"read_only": "on" if read_only else "off"})


def hold_snapshot() -> Operation[None]:
    """Take the transaction's snapshot."""
    yield Statement("bench/hold_snapshot")


def hold_xid() -> Operation[None]:
    """Take a transaction id."""
    yield Statement("bench/hold_xid")


def find_dump(name: str) -> Operation[bool]:
    """Whether the pg_dump that calls itself so holds its snapshot."""
    rows = yield Statement("bench/find_dump", {"name": name})
    return bool(rows[0][0])


def fill_begin() -> Operation[None]:
    """Past the trigger from now on."""
    yield Statement("bench/fill_begin")


def fill_end() -> Operation[None]:
    """The trigger works again."""
    yield Statement("bench/fill_end")


def fill_partition(ago: int) -> Operation[None]:
    """The partition of so many widths ago."""
    yield Statement("bench/fill_partition", {"ago": ago})


def fill_finished(pad: int, chunk: Chunk) -> Operation[None]:
    """Jobs that have ended."""
    yield Statement("bench/fill_finished", {"pad": pad, **_chunk(chunk)})


def fill_pending(job_type: str, priority: int, pad: int, chunk: Chunk) -> Operation[None]:
    """Jobs that wait."""
    yield Statement("bench/fill_pending", {"job_type": job_type, "priority": priority, "pad": pad, **_chunk(chunk)})


def fill_scheduled(pad: int, chunk: Chunk) -> Operation[None]:
    """Jobs for later."""
    yield Statement("bench/fill_scheduled", {"pad": pad, **_chunk(chunk)})


def fill_settle() -> Operation[None]:
    """What autovacuum and the checkpointer would have done; the latter only where this role may."""
    yield Statement("bench/fill_vacuum")
    rows = yield Statement("bench/may_checkpoint")
    if rows[0][0]:
        yield Statement("bench/checkpoint")


def sample_ids(count: int) -> Operation[list[UUID]]:
    """Jobs of all ages."""
    rows = yield Statement("bench/sample_ids", {"count": count})
    return [row[0] for row in rows]


def _chunk(chunk: Chunk) -> dict[str, object]:
    first, jobs, total = chunk
    return {"first": first, "jobs": jobs, "total": total}


def has_statements() -> Operation[bool]:
    """Whether pg_stat_statements can be asked."""
    rows = yield Statement("bench/has_statements")
    return bool(rows[0][0])


def count_statements() -> Operation[int]:
    """How many statements this database has executed, as pg_stat_statements counts them."""
    rows = yield Statement("bench/count_statements")
    return int(rows[0][0])
