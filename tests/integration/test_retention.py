"""Partitions are made ahead and dropped behind; nothing unfinished is ever dropped."""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import Any

import psycopg
import pytest

from tests.conftest import Database
from tests.integration.test_contract import claim, insert
from tests.rig.waiting import until

Sql = psycopg.Connection[Any]
OLD = "now() - interval '100 days'"


def partitions(sql: Sql) -> list[str]:
    return [row[0] for row in sql.execute("SELECT suffix FROM list_partitions()").fetchall()]


def make_old_partition(sql: Sql) -> str:
    before = set(partitions(sql))
    start = f"partition_start({OLD}, interval '7 days')"
    sql.execute(f"SELECT create_partition(s, s + interval '7 days') FROM {start} AS s".encode())
    (made,) = set(partitions(sql)) - before
    return made


def insert_old(sql: Sql, status: str, completed: str | None = None, events: int = 0) -> Any:
    row = sql.execute(
        f"INSERT INTO jobs (id, job_type, status, created_at, completed_at, events_count) VALUES"
        f" (overlay(job_id_at({OLD})::text placing substr(gen_random_uuid()::text, 25) from 25)::uuid,"
        f" 'plain', %s, {OLD}, {completed or 'NULL'}, %s) RETURNING id".encode(),
        (status, events),
    ).fetchone()
    assert row is not None
    for n in range(events):
        sql.execute("INSERT INTO job_events (job_id, seq, attempt, name) VALUES (%s, %s, 1, 'e')", (row[0], n + 1))
    return row[0]


def drop(sql: Sql) -> str | None:
    row = sql.execute("SELECT drop_expired_partition()").fetchone()
    assert row is not None
    dropped: str | None = row[0]
    return dropped


def test_partitions_are_made_ahead(sql: Sql) -> None:
    assert len(partitions(sql)) == 3
    assert sql.execute("SELECT create_next_partition()").fetchone() == (False,)
    sql.execute("UPDATE settings SET partitions_ahead = 4")
    made = [sql.execute("SELECT create_next_partition()").fetchone() for _ in range(3)]
    assert made == [(True,), (True,), (False,)]
    rows = sql.execute("SELECT starts_at, ends_at FROM list_partitions()").fetchall()
    assert all(after[0] == before[1] for before, after in pairwise(rows))


def test_a_narrower_width_continues_where_the_cover_ends(sql: Sql) -> None:
    sql.execute("UPDATE settings SET partition_width = '1 day', partitions_ahead = 30")
    while sql.execute("SELECT create_next_partition()").fetchone() == (True,):
        pass
    rows = sql.execute("SELECT starts_at, ends_at FROM list_partitions()").fetchall()
    assert len(rows) > 5
    assert all(after[0] == before[1] for before, after in pairwise(rows))


def test_rows_that_went_to_the_default_partition_move_when_theirs_is_made(sql: Sql) -> None:
    for suffix in partitions(sql):
        sql.execute(f"DROP TABLE jobs_{suffix}, job_events_{suffix}".encode())
    job_id = insert(sql)
    assert sql.execute("SELECT count(*) FROM jobs_default").fetchone() == (1,)
    assert sql.execute("SELECT create_next_partition()").fetchone() == (True,)
    assert sql.execute("SELECT count(*) FROM jobs_default").fetchone() == (0,)
    assert sql.execute("SELECT count(*) FROM ready").fetchone() == (1,)
    assert claim(sql) == [job_id]


def test_a_partition_past_retention_is_dropped_with_its_events(sql: Sql) -> None:
    suffix = make_old_partition(sql)
    for status in ("completed", "failed", "cancelled"):
        insert_old(sql, status, "now() - interval '99 days'", events=2)
    fresh = insert(sql)
    assert sql.execute(f"SELECT count(*) FROM jobs_{suffix}".encode()).fetchone() == (3,)
    assert drop(sql) == f"jobs_{suffix}"
    assert suffix not in partitions(sql)
    assert sql.execute("SELECT to_regclass(%s)", (f"job_events_{suffix}",)).fetchone() == (None,)
    assert sql.execute("SELECT id FROM jobs").fetchall() == [(fresh,)]
    assert drop(sql) is None


@pytest.mark.parametrize("status", ["pending", "claimed", "running"])
def test_an_unfinished_job_keeps_its_partition_however_old(sql: Sql, status: str) -> None:
    suffix = make_old_partition(sql)
    insert_old(sql, "completed", "now() - interval '99 days'")
    keeper = insert_old(sql, status)
    assert drop(sql) is None
    # The finished one beside it goes row by row.
    assert sql.execute("SELECT delete_expired_jobs(100)").fetchone() == (1,)
    assert sql.execute(f"SELECT id FROM jobs_{suffix}".encode()).fetchall() == [(keeper,)]


def test_an_old_job_that_finished_lately_is_kept(sql: Sql) -> None:
    make_old_partition(sql)
    insert_old(sql, "completed", "now() - interval '29 days'")
    assert drop(sql) is None
    assert sql.execute("SELECT delete_expired_jobs(100)").fetchone() == (0,)
    sql.execute("UPDATE settings SET retention = '28 days'")
    assert drop(sql) is not None


def test_a_job_of_the_callers_own_id_expires_from_the_default_partition(sql: Sql) -> None:
    for _ in range(3):
        sql.execute(
            f"INSERT INTO jobs (id, job_type, status, created_at, completed_at) VALUES"
            f" (gen_random_uuid(), 'plain', 'completed', {OLD}, {OLD})".encode()
        )
    assert sql.execute("SELECT delete_expired_jobs(2)").fetchone() == (2,)
    assert sql.execute("SELECT delete_expired_jobs(2)").fetchone() == (1,)


def test_a_job_revived_while_its_partition_is_about_to_go_is_not_lost(database: Database, sql: Sql) -> None:
    """The drop sees the revival, or the revival waits for the drop and then finds nothing: never a lost pending job."""
    suffix = make_old_partition(sql)
    job_id = insert_old(sql, "failed", "now() - interval '99 days'")
    with database.connect() as reviver, reviver.transaction():
        assert reviver.execute("SELECT retry_job(%s)", (job_id,)).fetchone() == ("pending",)
        assert drop(sql) is None
    assert drop(sql) is None
    assert suffix in partitions(sql)
    assert claim(sql) == [job_id]


def test_a_revival_waits_for_a_drop_under_way(database: Database, sql: Sql) -> None:
    make_old_partition(sql)
    job_id = insert_old(sql, "failed", "now() - interval '99 days'")
    answers: list[Any] = []
    with database.connect() as dropper, database.connect() as reviver:
        reviver_pid = reviver.info.backend_pid
        with dropper.transaction():
            assert drop(dropper) is not None
            thread = threading.Thread(
                target=lambda: answers.append(reviver.execute("SELECT retry_job(%s)", (job_id,)).fetchone())
            )
            thread.start()
            until(
                lambda: (
                    sql.execute(
                        "SELECT wait_event_type FROM pg_stat_activity WHERE pid = %s", (reviver_pid,)
                    ).fetchone()
                    == ("Lock",)
                ),
                "the revival waits",
            )
        thread.join(30)
    assert answers == [(None,)]


def test_a_busy_table_puts_the_drop_off_instead_of_blocking_everybody(database: Database, sql: Sql) -> None:
    make_old_partition(sql)
    insert_old(sql, "completed", "now() - interval '99 days'")
    with database.connect() as reader, reader.transaction():
        reader.execute("SELECT count(*) FROM jobs")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            drop(sql)
    assert drop(sql) is not None


def test_truncate_empties_the_lines(sql: Sql) -> None:
    insert(sql)
    insert(sql, run_at="2999-01-01")
    sql.execute("TRUNCATE jobs")
    assert claim(sql) == []
    assert sql.execute("SELECT count(*) FROM scheduled").fetchone() == (0,)
