"""The SQL surface as the machines call it: one function per statement, plain values in and out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg

from tests.model.queue_model import ModelJob, Pools, When

Sql = psycopg.Connection[Any]
RUN_AT = {When.NOW: "NULL", When.DUE: "now() - interval '1 hour'", When.LATER: "now() + interval '1 hour'"}
#: Which jobs of which worker: types never change, as a worker's do not.
TYPES = {"w0": ["a", "b"], "w1": ["a"], "w2": ["b", "a"], "hand": ["a", "b"]}
QUEUES = ("default", "other")
#: Longer than any program takes, however busy the machine: only the rule `silence` makes a worker silent.
SILENCE_SECONDS = 20
LEDGER = """
    SELECT id, status, job_type::text, queue::text, priority, attempts, max_attempts::int, lease::bigint,
        worker_id::text, errors, deaths, cancel_requested_at IS NOT NULL, started_at IS NOT NULL,
        CASE WHEN run_at IS NULL THEN 'now' WHEN run_at <= clock_timestamp() THEN 'due' ELSE 'later' END
    FROM jobs
"""
#: Jobs without exactly one right place, and places without a waiting job.
WRONG_PLACES = """
    WITH places AS (
        SELECT id, lane, rank, created_at, NULL::timestamptz AS run_at FROM ready
        UNION ALL SELECT id, lane, rank, created_at, run_at FROM scheduled
    )
    SELECT coalesce(j.id, p.id), j.status, count(p.id), count(p.id) FILTER (WHERE p.lane = lane_of(j.queue, j.job_type)
        AND p.rank = ~j.priority AND p.created_at = j.created_at AND (p.run_at IS NULL OR p.run_at = j.run_at)
        AND (p.run_at IS NOT NULL OR j.run_at IS NULL OR j.run_at <= now()))
    FROM jobs AS j FULL JOIN places AS p ON p.id = j.id
    GROUP BY 1, 2, j.attempts, j.max_attempts
"""
#: Held jobs that no rescue would find.
UNCLAIMED = """
    SELECT j.id FROM jobs AS j WHERE j.status IN ('claimed', 'running') AND NOT EXISTS (
        SELECT FROM claims AS c WHERE c.worker_id = coalesce(j.worker_id, '?') AND j.id = ANY (c.job_ids))
"""
TABLES = ("jobs", "ready", "scheduled", "claims", "late", "lanes", "workers", "pauses")


@dataclass(frozen=True, slots=True)
class Memory:
    """What a worker remembers between two claims (worker/marks.py)."""

    near: str | None = None
    far: str | None = None
    strays: str | None = None
    seen: str | None = None


@dataclass(frozen=True, slots=True)
class Claimed:
    """Jobs in claim order with their leases; how many line rows the claim took; what to remember."""

    jobs: list[tuple[UUID, int]]
    took: int = 0
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A job to be made; `age`: seconds since its created_at."""

    job_type: str
    queue: str
    priority: int
    max_attempts: int
    when: When
    age: int = 0

    def made(self, job_id: UUID, created_at: datetime) -> ModelJob:
        return ModelJob(job_id, self.job_type, self.queue, self.priority, created_at, self.max_attempts, self.when)


def insert(sql: Sql, draft: Draft, many: int) -> list[ModelJob]:
    """Plain INSERT of several jobs at once."""
    rows = sql.execute(
        "INSERT INTO jobs (job_type, queue, priority, max_attempts, created_at, run_at)"
        f" SELECT %s, %s, %s, %s, now() - %s * interval '1 second', {RUN_AT[draft.when]}"
        " FROM generate_series(1, %s) RETURNING id, created_at".encode(),
        (draft.job_type, draft.queue, draft.priority, draft.max_attempts, draft.age, many),
    ).fetchall()
    return [draft.made(*row) for row in rows]


def enqueue(sql: Sql, draft: Draft) -> list[ModelJob]:
    """The function for any language."""
    rows = sql.execute(
        "WITH made AS (SELECT enqueue_job(%s, '{}', %s, %s,"
        f" {RUN_AT[draft.when]}, %s) AS id) SELECT id, now() FROM made".encode(),
        (draft.job_type, draft.priority, draft.queue, draft.max_attempts),
    ).fetchall()
    return [draft.made(*row) for row in rows]


def claim_jobs(sql: Sql, worker: str, most: int, pools: Pools | None) -> Claimed:
    rows = sql.execute(
        "SELECT id, lease FROM claim_jobs(%s, %s, %s, %s::text[], %s::int[], %s::int[])",
        (worker, TYPES[worker], most, *_pool_arrays(pools)),
    ).fetchall()
    return Claimed([(row[0], row[1]) for row in rows])


def claim_job_batch(sql: Sql, worker: str, most: int) -> Claimed:
    rows = sql.execute("SELECT id, lease FROM claim_job_batch(%s, %s, %s)", (worker, TYPES[worker], most)).fetchall()
    return Claimed([(row[0], row[1]) for row in rows])


def claim_from_marks(
    sql: Sql, worker: str, most: int, pools: Pools | None, place: tuple[str | None, str | None, str | None]
) -> Claimed:
    """From marks, strays and the snapshot last seen; all None: from the head of the line."""
    about, *rows = sql.execute(
        "SELECT id, lease, priority, created_at, data, attempts FROM claim_from_marks(%s, %s, %s, %s::text[],"
        " %s::int[], %s::int[], %s::mark[], %s::stray[], %s::pg_snapshot)",
        (worker, TYPES[worker], most, *_pool_arrays(pools), *place),
    ).fetchall()
    rows.sort(key=lambda row: (-row[2], row[3], row[0]))
    jobs = [(UUID(bytes=bytes(row[0])), row[1]) for row in rows]
    if about[4] is None:
        return Claimed(jobs, len(jobs))
    said = json.loads(about[4])
    return Claimed(jobs, about[5], Memory(said["near"], said["far"], said["strays"], said["seen"]))


def read_marks(sql: Sql, marks: str | None) -> dict[tuple[int, int], tuple[Any, UUID]]:
    """Where each range of the line is to be begun: (lane, rank) → (created_at, id)."""
    rows = sql.execute("SELECT lane, rank, at, id FROM unnest(%s::mark[])", (marks,)).fetchall()
    return {(row[0], row[1]): (row[2], row[3]) for row in rows}


def empty(sql: Sql) -> None:
    """Begin anew; without DDL: a TRUNCATE would make every connection plan everything anew."""
    with sql.transaction():
        sql.execute("SET LOCAL lock_timeout = 0")  # a vacuum may be at work
        for table in TABLES:
            sql.execute(f"DELETE FROM {table}".encode())


def read_lanes(sql: Sql) -> dict[tuple[str, str], int]:
    """(queue, job type) → lane."""
    return {
        (queue, kind): sql.execute("SELECT lane_of(%s, %s)", (queue, kind)).fetchall()[0][0]
        for queue in QUEUES
        for kind in ("a", "b")
    }


def complete_jobs(sql: Sql, ends: Sequence[tuple[UUID, int]]) -> set[UUID]:
    ids, leases = _columns(ends)
    row = sql.execute(
        "SELECT complete_jobs(%s::uuid[], %s::bigint[], NULL, array_fill(0.0::float8, ARRAY[%s]), NULL)",
        (ids, leases, len(ids)),
    ).fetchone()
    assert row is not None
    return set(row[0])


def finish_jobs(sql: Sql, ends: Sequence[tuple[UUID, int, str, When]]) -> dict[UUID, str]:
    ids, leases = _columns([end[:2] for end in ends])
    delays = [0.0 if end[3] is When.DUE else 3600.0 for end in ends]
    rows = sql.execute(
        "SELECT id, status FROM finish_jobs(%s::uuid[], %s::bigint[], %s::text[], %s::text[], %s::float8[],"
        " %s::float8[], '{}')",
        (ids, leases, [end[2] for end in ends], ["it went wrong"] * len(ends), delays, [0.0] * len(ends)),
    ).fetchall()
    return {row[0]: row[1] for row in rows}


def report_jobs(sql: Sql, words: Sequence[tuple[UUID, int]]) -> set[UUID]:
    ids, leases = _columns(words)
    rows = sql.execute(
        "SELECT report_jobs(%s::uuid[], %s::bigint[], %s::int[], %s::text[], %s::float8[])",
        (ids, leases, [7] * len(ids), ["at work"] * len(ids), [0.0] * len(ids)),
    ).fetchall()
    return {row[0] for row in rows}


def heartbeat(sql: Sql, worker: str, held: Sequence[tuple[UUID, int]]) -> dict[UUID, str]:
    ids, leases = _columns(held)
    rows = sql.execute("SELECT id, verdict FROM heartbeat(%s, %s::uuid[], %s::bigint[])", (worker, ids, leases))
    return {row[0]: row[1] for row in rows.fetchall()}


def register(sql: Sql, worker: str) -> None:
    query = "SELECT register_worker(%s, make_interval(secs => %s), '{}', %s, '{}')"
    sql.execute(query, (worker, SILENCE_SECONDS, TYPES[worker]))


def last_beat(sql: Sql, worker: str) -> Any:
    return ask(sql, "SELECT max(heartbeat_at)::text FROM workers WHERE id = %s", worker)


def worker_ids(sql: Sql) -> set[str]:
    return {row[0] for row in sql.execute("SELECT id FROM workers").fetchall()}


def rescue(sql: Sql) -> set[tuple[UUID, str, int, str]]:
    """In one transaction with a beat of everybody who was not silenced: the test may take as long as it likes."""
    with sql.transaction():
        sql.execute("UPDATE workers SET heartbeat_at = clock_timestamp() WHERE heartbeat_at > '-infinity'")
        return set(sql.execute("SELECT id, status, deaths, worker_id FROM rescue_jobs()").fetchall())


def recover(sql: Sql) -> int:
    with sql.transaction():
        sql.execute("UPDATE workers SET heartbeat_at = clock_timestamp() WHERE heartbeat_at > '-infinity'")
        return int(ask(sql, "SELECT recover_stale_jobs('1 hour')"))


def let_time_pass(sql: Sql) -> None:
    """What was to come in an hour is due: by the clock, so no trigger hears of it."""
    with sql.transaction():
        sql.execute("SET LOCAL session_replication_role = replica")
        for table in ("jobs", "scheduled"):
            sql.execute(f"UPDATE {table} SET run_at = run_at - interval '2 hours' WHERE run_at > now()".encode())


def age_claims(sql: Sql) -> None:
    with sql.transaction():
        sql.execute("UPDATE claims SET claimed_at = claimed_at - interval '2 hours'")
        sql.execute(
            "UPDATE jobs SET claimed_at = claimed_at - interval '2 hours' WHERE status IN ('claimed', 'running')"
        )


def ask(sql: Sql, query: str, *values: object) -> Any:
    """The one value of a query."""
    row = sql.execute(query.encode(), values).fetchone()
    assert row is not None
    return row[0]


def _columns(pairs: Sequence[tuple[Any, ...]]) -> tuple[list[UUID], list[int]]:
    """In id order, as every caller of a batch statement sends them."""
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def _pool_arrays(pools: Pools | None) -> tuple[list[str] | None, list[int] | None, list[int] | None]:
    if pools is None:
        return None, None, None
    return list(pools.limits), list(pools.limits.values()), list(range(len(pools.limits)))
