"""Every statement of the contract as plain SQL, with Python workers running beside it on another type."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from howdah import Howdah
from tests.rig.working import working

Sql = psycopg.Connection[Any]
COLUMNS = {
    "id": "uuid",
    "job_type": "text",
    "priority": "integer",
    "status": "text",
    "data": "jsonb",
    "progress": "integer",
    "current_stage": "text",
    "events_count": "integer",
    "worker_id": "text",
    "claimed_at": "timestamp with time zone",
    "created_at": "timestamp with time zone",
    "started_at": "timestamp with time zone",
    "completed_at": "timestamp with time zone",
    "attempts": "integer",
    "max_attempts": "integer",
    "last_error": "text",
}


@pytest.fixture(autouse=True)
async def _workers_beside(app: Howdah) -> AsyncIterator[None]:
    """A worker that is busy with jobs of its own throughout each of these tests."""

    @app.job()
    async def beside(n: int) -> int:
        return n

    async with working(app):
        jobs = await beside.aenqueue_many([{"n": n} for n in range(300)])
        yield
        for job in jobs:
            await job.await_(30)
            assert job.status == "completed"


def insert(sql: Sql, job_type: str = "plain", **columns: Any) -> Any:
    names = ", ".join(["job_type", *columns])
    marks = ", ".join(["%s"] * (1 + len(columns)))
    row = sql.execute(
        f"INSERT INTO jobs ({names}) VALUES ({marks}) RETURNING id".encode(), [job_type, *columns.values()]
    ).fetchone()
    assert row is not None
    return row[0]


def claim(sql: Sql, worker: str = "w", types: tuple[str, ...] = ("plain",), n: int = 10) -> list[Any]:
    rows = sql.execute("SELECT id FROM claim_job_batch(%s, %s, %s)", (worker, list(types), n)).fetchall()
    return [row[0] for row in rows]


def value(sql: Sql, column: str, job_id: Any) -> Any:
    row = sql.execute(f"SELECT {column} FROM jobs WHERE id = %s".encode(), (job_id,)).fetchone()
    assert row is not None
    return row[0]


def test_jobs_has_every_column_of_the_contract(sql: Sql) -> None:
    rows = sql.execute(
        "SELECT column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = 'howdah' AND table_name = 'jobs'"
    ).fetchall()
    assert {name: kind for name, kind in rows if name in COLUMNS} == COLUMNS


def test_defaults_of_a_plain_insert(sql: Sql) -> None:
    job_id = insert(sql, data="{}")
    row = sql.execute(
        "SELECT priority, status, data, progress, current_stage, events_count, worker_id, claimed_at, started_at,"
        " completed_at, attempts, max_attempts, last_error, created_at <= now() FROM jobs WHERE id = %s",
        (job_id,),
    ).fetchone()
    assert row == (100, "pending", {}, 0, None, 0, None, None, None, None, 0, 3, None, True)


@pytest.mark.parametrize(
    ("column", "bad"),
    [
        ("status", "done"),
        ("status", "PENDING"),
        ("progress", 101),
        ("progress", -1),
        ("job_type", "x" * 51),
        ("job_type", ""),
        ("current_stage", "s" * 101),
        ("worker_id", "w" * 101),
    ],
)
def test_values_outside_the_contract_are_refused(sql: Sql, column: str, bad: Any) -> None:
    job_id = insert(sql)
    with pytest.raises(psycopg.errors.CheckViolation):
        sql.execute(f"UPDATE jobs SET {column} = %s WHERE id = %s".encode(), (bad, job_id))


def test_an_insert_is_claimable_at_commit_and_not_before(database: Any, sql: Sql) -> None:
    with database.connect() as other, other.transaction():
        job_id = insert(other, data='{"a": 1}', priority=150)
        assert claim(sql) == []
    assert claim(sql) == [job_id]


def test_an_id_of_the_callers_own_making(sql: Sql) -> None:
    mine = uuid4()
    assert insert(sql, id=mine) == mine
    assert claim(sql) == [mine]


def test_claim_marks_the_job_and_returns_whole_rows(sql: Sql) -> None:
    job_id = insert(sql, data='{"a": [1]}')
    cursor = sql.execute("SELECT * FROM claim_job_batch(p_worker_id => 'me', p_job_types => ARRAY['plain'])")
    names = [column.name for column in cursor.description or ()]
    row = dict(zip(names, cursor.fetchone() or (), strict=True))
    assert (row["id"], row["status"], row["worker_id"], row["attempts"]) == (job_id, "claimed", "me", 1)
    assert row["data"] == {"a": [1]}
    assert row["claimed_at"] is not None
    assert row["lease"] > 0
    assert value(sql, "status", job_id) == "claimed"


@pytest.mark.parametrize("cast", ["text[]", "varchar[]", "varchar(50)[]"])
def test_claim_takes_text_or_varchar(sql: Sql, cast: str) -> None:
    job_id = insert(sql)
    kind = cast.removesuffix("[]")
    row = sql.execute(f"SELECT id FROM claim_job_batch('w'::{kind}, ARRAY['plain']::{cast}, 1)".encode()).fetchone()
    assert row == (job_id,)


def test_batch_size_and_default_batch_size(sql: Sql) -> None:
    for _ in range(15):
        insert(sql)
    assert len(claim(sql, n=3)) == 3
    assert len(sql.execute("SELECT * FROM claim_job_batch('w', ARRAY['plain'])").fetchall()) == 10
    assert len(claim(sql, n=50)) == 2
    assert claim(sql, n=0) == []
    assert claim(sql, n=-1) == []


def test_highest_priority_first_then_oldest(sql: Sql) -> None:
    late = insert(sql, priority=100, created_at="2024-01-02")
    early = insert(sql, priority=100, created_at="2024-01-01")
    low = insert(sql, priority=-(2**31))
    high = insert(sql, priority=2**31 - 1)
    middle = insert(sql, priority=150)
    assert claim(sql) == [high, middle, early, late, low]


def test_only_the_given_types(sql: Sql) -> None:
    mine = insert(sql, "plain")
    insert(sql, "other")
    assert claim(sql, types=("plain", "nothing")) == [mine]
    assert claim(sql, types=()) == []


def test_rows_that_another_transaction_holds_are_skipped(database: Any, sql: Sql) -> None:
    first, second = insert(sql), insert(sql)
    with database.connect() as other, other.transaction():
        assert claim(other, n=1) == [first]
        assert claim(sql, n=1) == [second]
        assert claim(sql, n=1) == []


def test_a_claim_that_is_rolled_back_never_happened(database: Any, sql: Sql) -> None:
    job_id = insert(sql)
    with database.connect() as other, other.transaction(force_rollback=True):
        assert claim(other) == [job_id]
    assert value(sql, "attempts", job_id) == 0
    assert claim(sql) == [job_id]


def test_jobs_without_attempts_left_are_not_claimed(sql: Sql) -> None:
    insert(sql, attempts=3)
    insert(sql, attempts=1, max_attempts=1)
    last = insert(sql, attempts=2)
    assert claim(sql) == [last]


def test_future_and_paused_jobs_are_not_returned(sql: Sql) -> None:
    insert(sql, run_at="2999-01-01")
    insert(sql, queue="sleepy")
    insert(sql, "other")
    sql.execute("SELECT pause('queue', 'sleepy'), pause('type', 'other')")
    assert claim(sql, types=("plain", "other")) == []
    sql.execute("SELECT resume('queue', 'sleepy')")
    assert len(claim(sql, types=("plain", "other"))) == 1
    sql.execute("SELECT resume('type', 'other')")
    assert len(claim(sql, types=("plain", "other"))) == 1


def test_plain_update_to_completed_finishes(sql: Sql) -> None:
    job_id = insert(sql)
    claim(sql)
    sql.execute("UPDATE jobs SET status = 'completed', progress = 100, completed_at = now() WHERE id = %s", (job_id,))
    assert claim(sql) == []
    assert value(sql, "status", job_id) == "completed"


def test_plain_update_of_a_waiting_job_to_completed_takes_it_out_of_the_line(sql: Sql) -> None:
    job_id = insert(sql)
    sql.execute("UPDATE jobs SET status = 'completed', progress = 100, completed_at = now() WHERE id = %s", (job_id,))
    assert claim(sql) == []
    assert sql.execute("SELECT count(*) FROM ready WHERE id = %s", (job_id,)).fetchone() == (0,)


def test_plain_failure_with_attempts_left_and_without(sql: Sql) -> None:
    job_id = insert(sql, max_attempts=2)
    statement = (
        "UPDATE jobs SET status = CASE WHEN attempts < max_attempts THEN 'pending' ELSE 'failed' END,"
        " worker_id = NULL, claimed_at = NULL, last_error = %s WHERE id = %s"
    )
    assert claim(sql) == [job_id]
    sql.execute(statement, ("first", job_id))
    assert claim(sql) == [job_id]
    sql.execute(statement, ("second", job_id))
    assert value(sql, "status", job_id) == "failed"
    assert value(sql, "last_error", job_id) == "second"
    assert claim(sql) == []


def test_plain_recovery_of_stale_jobs(sql: Sql) -> None:
    old, fresh, spent = insert(sql, priority=3), insert(sql, priority=2), insert(sql, priority=1, max_attempts=1)
    assert claim(sql) == [old, fresh, spent]
    sql.execute("UPDATE jobs SET claimed_at = now() - interval '10 minutes' WHERE id = ANY(%s)", ([old, spent],))
    sql.execute(
        "UPDATE jobs SET status = 'pending', worker_id = NULL, claimed_at = NULL"
        " WHERE status IN ('claimed', 'running') AND claimed_at < now() - interval '5 minutes'"
        " AND attempts < max_attempts AND job_type = 'plain'"
    )
    assert claim(sql) == [old]
    assert value(sql, "attempts", old) == 2


def test_recover_stale_jobs_frees_plain_claims_and_fails_the_spent(sql: Sql) -> None:
    old, fresh, spent = insert(sql, priority=3), insert(sql, priority=2), insert(sql, priority=1, max_attempts=1)
    claim(sql)
    sql.execute("UPDATE jobs SET claimed_at = now() - interval '10 minutes' WHERE id = ANY(%s)", ([old, spent],))
    assert sql.execute("SELECT recover_stale_jobs('20 minutes')").fetchone() == (0,)
    assert sql.execute("SELECT recover_stale_jobs('5 minutes')").fetchone() == (2,)
    assert value(sql, "status", old) == "pending"
    assert value(sql, "status", fresh) == "claimed"
    assert value(sql, "status", spent) == "failed"
    assert "last attempt" in value(sql, "last_error", spent)
    assert claim(sql) == [old]


def test_a_plain_caller_who_beats_is_not_stale(sql: Sql) -> None:
    job_id = insert(sql)
    claim(sql, worker="beats")
    sql.execute("UPDATE jobs SET claimed_at = now() - interval '10 minutes' WHERE id = %s", (job_id,))
    sql.execute("SELECT * FROM heartbeat('beats')")
    assert sql.execute("SELECT recover_stale_jobs('5 minutes')").fetchone() == (0,)
    assert value(sql, "status", job_id) == "claimed"


def test_plain_cancel_of_a_pending_job(sql: Sql) -> None:
    job_id, later = insert(sql), insert(sql, run_at="2999-01-01")
    sql.execute("UPDATE jobs SET status = 'cancelled' WHERE id = ANY(%s)", ([job_id, later],))
    assert claim(sql) == []
    assert sql.execute("SELECT count(*) FROM scheduled").fetchone() == (0,)


def test_plain_cancel_while_a_claim_holds_the_line_row_does_not_deadlock(database: Any, sql: Sql) -> None:
    job_id = insert(sql)
    with database.connect() as other, other.transaction(force_rollback=True):
        other.execute("SELECT * FROM ready WHERE id = %s FOR UPDATE", (job_id,))
        sql.execute("SET lock_timeout = '5s'")
        sql.execute("UPDATE jobs SET status = 'cancelled' WHERE id = %s", (job_id,))
    # The claimer gave up: its line row is back, but the ledger decides.
    assert claim(sql) == []


def test_changing_priority_or_queue_or_time_of_a_waiting_job_moves_it(sql: Sql) -> None:
    a, b, c = insert(sql), insert(sql), insert(sql)
    sql.execute("UPDATE jobs SET priority = 200 WHERE id = %s", (c,))
    sql.execute("UPDATE jobs SET run_at = now() + interval '1 day' WHERE id = %s", (a,))
    assert claim(sql) == [c, b]
    sql.execute("UPDATE jobs SET run_at = NULL WHERE id = %s", (a,))
    assert claim(sql) == [a]


def test_delete_removes_the_job_from_its_line(sql: Sql) -> None:
    job_id, later = insert(sql), insert(sql, run_at="2999-01-01")
    sql.execute("DELETE FROM jobs WHERE id = ANY(%s)", ([job_id, later],))
    assert claim(sql) == []
    rows = sql.execute("SELECT (SELECT count(*) FROM ready WHERE id = %s), (SELECT count(*) FROM scheduled)", (job_id,))
    assert rows.fetchone() == (0, 0)


def test_a_job_marked_claimed_by_plain_update_is_found_by_recovery(sql: Sql) -> None:
    job_id = insert(sql)
    sql.execute(
        "UPDATE jobs SET status = 'claimed', worker_id = 'hand', claimed_at = now() - interval '1 hour',"
        " attempts = attempts + 1 WHERE id = %s",
        (job_id,),
    )
    assert claim(sql) == []
    assert sql.execute("SELECT recover_stale_jobs('5 minutes')").fetchone() == (1,)
    assert claim(sql) == [job_id]


def test_a_job_marked_claimed_without_saying_by_whom_or_when_is_found_too(sql: Sql) -> None:
    updated, inserted = insert(sql), insert(sql, status="claimed")
    sql.execute("UPDATE jobs SET status = 'running' WHERE id = %s", (updated,))
    sql.execute("SELECT * FROM rescue_jobs()")
    assert sql.execute("SELECT count(*) FROM claims WHERE worker_id = '?'").fetchone() == (2,)
    sql.execute("UPDATE claims SET claimed_at = now() - interval '61 minutes'")
    sql.execute("SELECT * FROM rescue_jobs()")
    assert (value(sql, "status", updated), value(sql, "status", inserted)) == ("pending", "pending")
    assert sql.execute("SELECT count(*) FROM claims WHERE worker_id = '?'").fetchone() == (0,)


def test_claims_of_a_plain_caller_who_beats_are_cleared_away(sql: Sql) -> None:
    job_id = insert(sql)
    claim(sql, worker="beats")
    sql.execute("SELECT * FROM heartbeat('beats')")
    sql.execute("UPDATE claims SET claimed_at = now() - interval '2 minutes' WHERE worker_id = 'beats'")
    sql.execute("SELECT * FROM rescue_jobs()")
    assert sql.execute("SELECT count(*) FROM claims WHERE worker_id = 'beats'").fetchone() == (1,)
    sql.execute("UPDATE jobs SET status = 'completed', progress = 100, completed_at = now() WHERE id = %s", (job_id,))
    sql.execute("SELECT * FROM rescue_jobs()")
    assert sql.execute("SELECT count(*) FROM claims WHERE worker_id = 'beats'").fetchone() == (0,)


def test_copy_and_multi_row_insert_and_upsert(sql: Sql) -> None:
    with sql.cursor() as cursor, cursor.copy("COPY jobs (job_type, priority) FROM STDIN") as copy:
        copy.write("plain\t1\nplain\t2\n")
    mine = uuid4()
    for _ in range(2):
        sql.execute("INSERT INTO jobs (id, job_type) VALUES (%s, 'plain') ON CONFLICT (id) DO NOTHING", (mine,))
    assert len(claim(sql)) == 3


def test_the_rescue_of_others_leaves_plain_claims_alone_for_an_hour(sql: Sql) -> None:
    young, old = insert(sql, priority=2), insert(sql, priority=1)
    claim(sql)
    sql.execute("UPDATE jobs SET claimed_at = now() - interval '59 minutes' WHERE id = %s", (young,))
    sql.execute("UPDATE jobs SET claimed_at = now() - interval '61 minutes' WHERE id = %s", (old,))
    sql.execute("UPDATE claims SET claimed_at = now() - interval '59 minutes' WHERE worker_id = 'w'")
    sql.execute("SELECT * FROM rescue_jobs()")
    assert (value(sql, "status", young), value(sql, "status", old)) == ("claimed", "pending")
    sql.execute("UPDATE settings SET plain_claim_timeout = '10 minutes'")
    sql.execute("SELECT * FROM rescue_jobs()")
    assert value(sql, "status", young) == "pending"
