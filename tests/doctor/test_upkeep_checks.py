from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

import psycopg

from howdah.admin.doctor.finding import Level
from howdah.admin.doctor.limits import Limits
from howdah.admin.doctor.store import Snapshot
from howdah.admin.doctor.upkeep import judge_snapshots
from tests.conftest import Database
from tests.doctor.conftest import Diagnose
from tests.doctor.diagnosis import diagnose_url
from tests.rig.waiting import until

Connection = psycopg.Connection[Any]
MOMENT = timedelta(milliseconds=1)


@contextmanager
def long_query(database: Database, sql: Connection) -> Iterator[int]:
    """The process id of a session that is busy with one statement, and so holds its snapshot."""
    with database.connect() as other:

        def ask() -> None:
            with suppress(psycopg.errors.QueryCanceled):
                other.execute("SELECT pg_sleep(100)")

        thread = threading.Thread(target=ask)
        thread.start()
        pid = other.info.backend_pid
        holds = "SELECT 1 FROM pg_stat_activity WHERE pid = %s AND backend_xmin IS NOT NULL"
        until(lambda: sql.execute(holds, (pid,)).fetchone(), "the other session holds a snapshot")
        yield pid
        other.cancel()
        thread.join()


def test_snapshot_held_by_a_session(database: Database, sql: Connection, diagnose: Diagnose) -> None:
    with long_query(database, sql) as pid:
        assert diagnose().troubled == set()
        warned, failed = diagnose(snapshot_warn=MOMENT), diagnose(snapshot_warn=MOMENT, snapshot_fail=MOMENT)
    assert warned.troubled == failed.troubled == {"snapshots"}
    assert (warned["snapshots"].level, failed["snapshots"].level) == (Level.WARN, Level.FAIL)
    assert f"session {pid}" in warned["snapshots"].message
    assert f"pg_terminate_backend({pid})" in str(warned["snapshots"].next_step)


def test_snapshot_held_by_a_prepared_transaction(careful_url: str) -> None:
    with psycopg.connect(careful_url, autocommit=True) as connection:
        connection.execute("BEGIN")
        connection.execute("INSERT INTO howdah.pauses (kind, name) VALUES ('queue', 'never')")
        connection.execute("PREPARE TRANSACTION 'forgotten'")
        try:
            diagnosis = diagnose_url(careful_url, snapshot_warn=MOMENT)
        finally:
            connection.execute("ROLLBACK PREPARED 'forgotten'")
    assert diagnosis.troubled == {"snapshots"}
    assert "prepared transaction forgotten" in diagnosis["snapshots"].message


def test_snapshot_held_by_a_replication_slot() -> None:
    slot = Snapshot("replication slot", "standby_7", "not in use", None, 2_000_000)
    verdict = judge_snapshots([slot], 0, Limits())
    assert verdict.level is Level.WARN
    assert "standby_7" in verdict.message
    assert judge_snapshots([slot], 0, Limits(slot_fail=1_000_001)).level is Level.FAIL


def test_snapshots_of_other_roles_are_hidden(database: Database, sql: Connection) -> None:
    sql.execute("CREATE ROLE looker")
    try:
        sql.execute("GRANT USAGE ON SCHEMA howdah TO looker")
        sql.execute("GRANT SELECT ON ALL TABLES IN SCHEMA howdah TO looker")
        diagnosis = diagnose_url(database.url + "&options=-crole%3Dlooker")
        assert diagnosis.troubled == set()
        assert "grant pg_monitor" in diagnosis["snapshots"].message
    finally:
        sql.execute("DROP OWNED BY looker")
        sql.execute("DROP ROLE looker")


def test_idle_transactions(database: Database, diagnose: Diagnose) -> None:
    with database.connect() as forgetful:
        forgetful.execute("BEGIN")
        forgetful.execute("SELECT 1")
        diagnosis = diagnose(idle_transaction=MOMENT)
        pid = forgetful.info.backend_pid
    assert diagnosis.troubled == {"idle-transactions"}
    assert f"session {pid}" in diagnosis["idle-transactions"].message


def test_dead_rows(sql: Connection, diagnose: Diagnose) -> None:
    tiny: dict[str, Any] = {"dead_rows": 500, "unvacuumed": MOMENT}
    assert diagnose(**tiny).troubled == set()
    # Inserts alone would call autovacuum, which is quick here.
    sql.execute("ALTER TABLE ready SET (autovacuum_vacuum_insert_threshold = -1)")
    sql.execute("INSERT INTO ready SELECT 1, 1, now(), gen_random_uuid() FROM generate_series(1, 2000)")
    sql.execute("DELETE FROM ready")
    sql.execute("SELECT pg_stat_force_next_flush()")
    until(lambda: diagnose(**tiny).troubled, "dead rows are counted")
    diagnosis = diagnose(**tiny)
    assert diagnosis.troubled == {"dead-rows"}
    assert "ready has 2,000 dead to 0 live" in diagnosis["dead-rows"].message
    assert diagnose(dead_rows=2000, unvacuumed=MOMENT).troubled == set()
    sql.execute("VACUUM ready")
    sql.execute("SELECT pg_stat_force_next_flush()")
    until(lambda: diagnose(**tiny).troubled == set(), "vacuum is counted")


def test_transaction_ids(sql: Connection, diagnose: Diagnose) -> None:
    age = sql.execute("SELECT max(age(datfrozenxid)) FROM pg_database").fetchone()
    assert age is not None
    limit = age[0] + 100
    assert diagnose(transaction_age=limit).troubled == set()
    for _ in range(200):
        sql.execute("SELECT pg_current_xact_id()")
    failed, warned = diagnose(transaction_age=limit), diagnose(transaction_age_share=1e-9)
    assert failed.troubled == warned.troubled == {"transaction-ids"}
    assert (failed["transaction-ids"].level, warned["transaction-ids"].level) == (Level.FAIL, Level.WARN)
    assert "oldest in database" in failed["transaction-ids"].message


def drop_partition(sql: Connection, number: int) -> None:
    suffix = sql.execute("SELECT suffix FROM list_partitions()").fetchall()[number][0]
    sql.execute(f"DROP TABLE jobs_{suffix}, job_events_{suffix}".encode())


def test_partition_missing_for_the_next_stretch(sql: Connection, diagnose: Diagnose) -> None:
    drop_partition(sql, 1)
    diagnosis = diagnose()
    assert diagnosis.troubled == {"partitions"}
    assert diagnosis["partitions"].level is Level.WARN


def test_partition_missing_for_now(sql: Connection, diagnose: Diagnose) -> None:
    drop_partition(sql, 0)
    diagnosis = diagnose()
    assert diagnosis.troubled == {"partitions"}
    assert diagnosis["partitions"].level is Level.FAIL


def test_default_partition_with_many_rows(sql: Connection, diagnose: Diagnose) -> None:
    sql.execute(
        "INSERT INTO jobs (id, job_type, status)"
        " SELECT ('f' || substr(gen_random_uuid()::text, 2))::uuid, 'x', 'completed' FROM generate_series(1, 20)"
    )
    assert diagnose(default_rows=21).troubled == set()
    diagnosis = diagnose(default_rows=20)
    assert diagnosis.troubled == {"default-partition"}
    assert "at least 20 jobs" in diagnosis["default-partition"].message
