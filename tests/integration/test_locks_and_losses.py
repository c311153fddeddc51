"""Rows that somebody else has locked, replies that were lost, line rows that are out of date.

Nobody waits for long, and nothing is stranded.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import psycopg
import pytest

from howdah import Howdah, Job, JobContext
from howdah.db.catalog import Catalog
from howdah.db.link import Link, Outage
from howdah.db.op import Operation
from howdah.maintenance.chores import Chores
from howdah.worker import pulse, store
from howdah.worker.store import Completion, Ending, Running
from tests.conftest import Database
from tests.integration.test_contract import claim, insert, value
from tests.integration.test_surface import held, one
from tests.rig.waiting import until_async
from tests.rig.working import working

Sql = psycopg.Connection[Any]


def test_a_claim_skips_a_job_whose_ledger_row_is_locked_and_finds_the_others(database: Database, sql: Sql) -> None:
    ids = [insert(sql) for _ in range(50)]
    with database.connect() as other, other.transaction():
        other.execute("SELECT 1 FROM jobs WHERE id = %s FOR UPDATE", (ids[0],))
        sql.execute("SET lock_timeout = '5s'")
        assert claim(sql, n=1) == [ids[1]]
        assert claim(sql, n=20) == ids[2:22]
        assert claim(sql, n=500) == ids[22:]
    assert claim(sql) == [ids[0]]


@pytest.mark.parametrize("n", [1, 7, 500])
def test_a_claim_of_any_size_looks_past_many_locked_rows(database: Database, sql: Sql, n: int) -> None:
    ids = [insert(sql) for _ in range(120)]
    with database.connect() as other, other.transaction():
        assert len(claim(other, n=100)) == 100
        assert claim(sql, n=n) == ids[100 : 100 + n]


def test_a_line_row_that_is_out_of_date_is_thrown_away_not_obeyed(sql: Sql) -> None:
    later, moved, other = insert(sql), insert(sql), insert(sql)
    rows = sql.execute("SELECT lane, rank, created_at, id FROM ready").fetchall()
    sql.execute("UPDATE jobs SET run_at = now() + interval '1 hour' WHERE id = %s", (later,))
    sql.execute("UPDATE jobs SET queue = 'other' WHERE id = %s", (moved,))
    # As a claimer leaves them that died while it waited: surplus, and wrong.
    for row in rows:
        sql.execute("INSERT INTO ready (lane, rank, created_at, id) VALUES (%s, %s, %s, %s)", row)
    got = sql.execute("SELECT c.id FROM claim_jobs('w', ARRAY['plain'], 10, ARRAY['default']) AS c").fetchall()
    assert got == [(other,)]
    assert (value(sql, "status", later), value(sql, "status", moved)) == ("pending", "pending")
    assert claim(sql) == [moved]


def test_a_cancellation_survives_the_plain_recovery_statement(sql: Sql) -> None:
    job_id, _ = held(sql)
    assert one(sql, "SELECT cancel_job(%s)", job_id) == "requested"
    sql.execute("UPDATE jobs SET status = 'pending', worker_id = NULL, claimed_at = NULL WHERE id = %s", (job_id,))
    assert value(sql, "status", job_id) == "cancelled"
    assert claim(sql) == []
    assert one(sql, "SELECT retry_job(%s)", job_id) == "pending"
    assert claim(sql) == [job_id]


def test_a_plain_update_may_even_touch_the_lease_or_the_id(sql: Sql) -> None:
    job_id, _ = held(sql)
    sql.execute("UPDATE jobs SET status = 'pending', lease = lease + 1 WHERE id = %s", (job_id,))
    assert claim(sql) == [job_id]
    waiting = insert(sql)
    row = sql.execute("UPDATE jobs SET id = new_job_id() WHERE id = %s RETURNING id", (waiting,)).fetchone()
    assert row is not None
    assert claim(sql) == [row[0]]


def test_a_plain_claim_by_update_fences_off_whoever_held_the_job_before(sql: Sql) -> None:
    job_id, lease = held(sql)
    sql.execute("UPDATE jobs SET status = 'pending' WHERE id = %s", (job_id,))
    sql.execute("UPDATE jobs SET status = 'claimed', worker_id = 'hand' WHERE id = %s", (job_id,))
    assert one(sql, "SELECT complete_job(%s, %s)", job_id, lease) is False


@pytest.mark.parametrize("moment", ["infinity", "-infinity"])
def test_a_time_at_the_end_of_time_stands_in_nobodys_way(sql: Sql, moment: str) -> None:
    endless, plain = insert(sql, run_at=moment), insert(sql)
    got = sql.execute(
        "SELECT c.id FROM seconds_to_next_due() LEFT JOIN claim_jobs('w', ARRAY['plain'], 9) AS c ON true"
    )
    assert plain in [row[0] for row in got.fetchall()]
    if moment == "-infinity":
        assert (
            one(sql, "SELECT fail_job(%s, %s, 'x', p_final => true)", endless, value(sql, "lease", endless)) == "failed"
        )


def test_the_best_of_many_due_jobs_comes_first(sql: Sql) -> None:
    sql.execute(
        "INSERT INTO jobs (job_type, priority, run_at) SELECT 'plain', 30, now() + interval '200 milliseconds'"
        " FROM generate_series(1, 7000)"
    )
    best = insert(sql, priority=150, run_at="2999-01-01")
    sql.execute("UPDATE jobs SET run_at = now() + interval '250 milliseconds' WHERE id = %s", (best,))
    sql.execute("SELECT pg_sleep(0.4)")
    assert claim(sql, n=1) == [best]


def test_events_repeated_after_a_lost_reply_are_kept_once(sql: Sql) -> None:
    job_id, lease = held(sql)
    for seqs in ([1, 2], [1, 2], [2, 3]):
        sql.execute(
            "SELECT record_events(%s, %s, %s, %s, %s::text[], %s)",
            ([job_id] * 2, [lease] * 2, seqs, [f"e{n}" for n in seqs], [None] * 2, [0.0] * 2),
        )
    rows = sql.execute("SELECT seq, name FROM job_events ORDER BY seq").fetchall()
    assert rows == [(1, "e1"), (2, "e2"), (3, "e3")]
    assert value(sql, "events_count", job_id) == 3


def test_a_publication_for_all_tables_forbids_nothing(sql: Sql) -> None:
    sql.execute("SET client_min_messages = error")
    sql.execute("CREATE PUBLICATION everything FOR ALL TABLES")
    job_id, cancelled = insert(sql), insert(sql)
    assert one(sql, "SELECT cancel_job(%s)", cancelled) == "cancelled"
    assert claim(sql) == [job_id]


async def test_a_claim_whose_reply_was_lost_is_released_at_no_charge(
    app: Howdah, database: Database, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulse, "RECONCILE_SECONDS", 1.0)

    @app.job()
    async def work(n: int) -> int:
        return n

    async with working(app) as worker:
        # What the worker itself would have sent, in one transaction with the enqueue; the answer reaches nobody.
        async with await psycopg.AsyncConnection.connect(database.direct_url, prepare_threshold=None) as conn:
            job = await work.using(conn=conn).aenqueue(1)
            claimed = await conn.execute("SELECT * FROM howdah.claim_jobs(%s, ARRAY['work'], 10)", (worker.worker_id,))
            assert claimed.rowcount == 1
        await job.await_(20)
        assert (job.status, job.record.attempts, job.record.deaths) == ("completed", 1, 0)
    assert sql.execute("SELECT count(*) FROM claims").fetchone() == (0,)
    await app.aclose()


async def test_a_locked_running_job_costs_neither_its_lease_nor_its_neighbours_acknowledgement(
    app: Howdah, database: Database, sql: Sql
) -> None:
    go = asyncio.Event()

    @app.job()
    async def waits() -> None:
        await go.wait()

    @app.job()
    async def quick(ctx: JobContext, n: int) -> int:
        ctx.event("ran")
        return n

    async with working(app, silence=timedelta(seconds=2)):
        locked = [await waits.aenqueue() for _ in range(2)]
        for job in locked:
            await until_async(partial(_is, job, "running"), "it runs")
        with database.connect() as other, other.transaction():
            other.execute("SELECT 1 FROM jobs WHERE id = %s FOR UPDATE", (locked[0].id,))
            go.set()
            neighbours = [await quick.aenqueue(n) for n in range(20)]
            assert (await locked[1].await_(30)).status == "completed"
            for neighbour in neighbours:
                assert (await neighbour.await_(30)).status == "completed"
            # Longer than the silence: the worker beats on, though one of its jobs cannot be written to.
            await asyncio.sleep(3)
            row = sql.execute("SELECT status, attempts, deaths FROM jobs WHERE id = %s", (locked[0].id,)).fetchone()
            assert row == ("running", 1, 0)
        assert (await locked[0].await_(30)).status == "completed"
        assert locked[0].record.attempts == 1
    assert sql.execute("SELECT count(*) FROM claims").fetchone() == (0,)
    await app.aclose()


def _write(function: str, held: list[tuple[bytes, int]]) -> Operation[Any]:
    match function:
        case "complete_jobs":
            return store.complete([Completion(*one, None, 0.0) for one in held], [])
        case "finish_jobs":
            return store.finish([Ending(*one, "release") for one in held], [])
        case _:
            return store.report([Running(*one, 1, None, 0.0) for one in held])


@pytest.mark.parametrize("function", ["complete_jobs", "finish_jobs", "report_jobs"])
async def test_a_batch_locks_its_jobs_in_the_order_of_their_ids_in_whatever_order_they_ended(
    database: Database, sql: Sql, function: str
) -> None:
    """Two batches that lock the same jobs in two orders would wait for each other in a circle."""
    ids = sorted([insert(sql), insert(sql)])
    assert sorted(claim(sql)) == ids
    held = [(one.bytes, value(sql, "lease", one)) for one in reversed(ids)]
    sql.execute(f"ALTER FUNCTION {function} SET lock_timeout = '60s'".encode())
    waiting = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND application_name = 'howdah batch' AND wait_event_type = 'Lock'"
    )
    link = Link(database.direct_url, Catalog(), "batch", Outage())
    with database.connect() as other, other.transaction():
        other.execute("SELECT 1 FROM jobs WHERE id = %s FOR UPDATE", (ids[1],))
        writing = asyncio.create_task(link.perform(_write(function, held)))
        await until_async(lambda: one(sql, waiting) == 1, "the batch waits for the second job")
        free = sql.execute("SELECT id FROM jobs WHERE id = %s FOR UPDATE SKIP LOCKED", (ids[0],)).fetchall()
    await writing
    await link.close()
    assert free == [], "it waits for the second without having locked the first"


async def test_a_rescuer_that_was_cut_off_itself_waits_before_it_judges_others(database: Database, sql: Sql) -> None:
    job_id = insert(sql)
    claim(sql, worker="silent")
    sql.execute("SELECT register_worker('silent', '1 millisecond', '{}', '{}', '{}')")
    chores = Chores(Link(database.url, Catalog(), "maintenance", Outage()), 3.0, lambda: None)
    chores._shaken = True
    await chores.rescue()
    await chores.rescue()
    assert value(sql, "status", job_id) == "claimed"
    chores._wait_until = 0.0
    await chores.rescue()
    assert value(sql, "status", job_id) == "pending"
    await chores._link.close()


def test_a_restarted_server_costs_no_enqueue(make_app: Callable[..., Howdah], database: Database, sql: Sql) -> None:
    app = make_app()

    @app.job()
    def work(n: int) -> None: ...

    start = threading.Barrier(8)

    def use_the_pool() -> None:
        start.wait()
        for n in range(5):
            work.enqueue(n)

    threads = [threading.Thread(target=use_the_pool) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sql.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    for n in range(10):
        work.enqueue(n)
    assert one(sql, "SELECT count(*) FROM jobs") == 50


def test_short_lived_event_loops_leave_no_connections_behind(app: Howdah, database: Database, sql: Sql) -> None:
    @app.job()
    def work() -> None: ...

    for _ in range(15):
        asyncio.run(_enqueue(work))
    gc.collect()
    assert len(app.sessions._async_pools) == 1


async def _enqueue(work: Any) -> None:
    await work.aenqueue()


async def _is(job: Job[Any], status: str) -> bool:
    return (await job.arefresh()).status == status


def test_the_workers_claim_and_the_contracts_claim_do_the_same(sql: Sql) -> None:
    columns = (
        "status, worker_id, attempts, progress, current_stage, started_at, cancel_requested_at, claimed_at = now()"
    )
    seen = []
    for call in (
        "SELECT id FROM claim_jobs('w', ARRAY['plain'], 1)",
        "SELECT id FROM claim_job_batch('w', ARRAY['plain'], 1)",
    ):
        job_id = insert(sql, progress=7, current_stage="old", attempts=1, started_at="2024-01-01")
        with sql.transaction():
            assert sql.execute(call.encode()).fetchall() == [(job_id,)]
            seen.append(sql.execute(f"SELECT {columns} FROM jobs WHERE id = %s".encode(), (job_id,)).fetchone())
            assert value(sql, "lease > 1000000000000000", job_id)
    assert seen[0] == seen[1] == ("claimed", "w", 2, 0, None, None, None, True)
