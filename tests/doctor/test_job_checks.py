from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from howdah.admin.doctor.finding import Level
from tests.doctor.conftest import Diagnose
from tests.doctor.fleet import register

Connection = psycopg.Connection[Any]
AT_ONCE = timedelta(0)


def insert(sql: Connection, columns: str = "job_type", values: str = "'letter'") -> UUID:
    row = sql.execute(f"INSERT INTO jobs ({columns}) VALUES ({values}) RETURNING id".encode()).fetchone()
    assert row is not None
    job_id: UUID = row[0]
    return job_id


def claim(sql: Connection, worker_id: str) -> UUID:
    job_id = insert(sql)
    assert sql.execute("SELECT id FROM claim_job_batch(%s, ARRAY['letter'])", (worker_id,)).fetchall() == [(job_id,)]
    return job_id


def backdate_claims(sql: Connection, age: str) -> None:
    sql.execute("UPDATE jobs SET claimed_at = now() - %s::interval", (age,))
    sql.execute("UPDATE claims SET claimed_at = now() - %s::interval", (age,))


def test_plain_claim_is_shown_and_at_first_no_fault(sql: Connection, diagnose: Diagnose) -> None:
    claim(sql, "cobol-7")
    diagnosis = diagnose()
    assert diagnosis.troubled == set()
    assert "cobol-7 holds 1 job" in diagnosis["plain-claims"].message
    assert "rescued in 59 min" in diagnosis["plain-claims"].message


def test_plain_claim_that_grows_old(sql: Connection, diagnose: Diagnose) -> None:
    claim(sql, "cobol-7")
    backdate_claims(sql, "20 minutes")
    diagnosis = diagnose()
    assert diagnosis.troubled == {"plain-claims"}
    assert "cobol-7 holds 1 job for 20 min" in diagnosis["plain-claims"].message
    assert "rescued in 39 min" in diagnosis["plain-claims"].message
    sql.execute("SELECT heartbeat('cobol-7')")
    assert diagnose().troubled == set()


def test_plain_claim_past_its_rescue_is_stuck(sql: Connection, diagnose: Diagnose) -> None:
    claim(sql, "cobol-7")
    backdate_claims(sql, "2 hours")
    diagnosis = diagnose()
    assert diagnosis.troubled == {"stuck-jobs"}
    assert diagnosis["stuck-jobs"].level is Level.FAIL
    assert "cobol-7 holds 1 job" in diagnosis["stuck-jobs"].message
    sql.execute("SELECT rescue_jobs()")
    assert diagnose()["stuck-jobs"].level is Level.OK


def test_jobs_of_a_silent_worker_are_stuck(sql: Connection, diagnose: Diagnose) -> None:
    register(sql, "weary", ["letter"])
    claim(sql, "weary")
    assert diagnose(rescue_delay=AT_ONCE).troubled == set()
    sql.execute("UPDATE workers SET heartbeat_at = now() - interval '1 hour', silence = '5 ms'")
    # Silence is told as such too; the jobs are stuck only once the rescue has had its time.
    assert diagnose(rescue_delay=timedelta(hours=2)).troubled == {"heartbeats"}
    diagnosis = diagnose(rescue_delay=AT_ONCE)
    assert diagnosis.troubled == {"heartbeats", "stuck-jobs"}
    assert "weary holds 1 job" in diagnosis["stuck-jobs"].message


def test_held_job_that_no_claim_lists_is_stuck(sql: Connection, diagnose: Diagnose) -> None:
    register(sql, "w1", ["letter"])
    job_id = claim(sql, "w1")
    sql.execute("DELETE FROM claims")
    assert diagnose().troubled == set()
    diagnosis = diagnose(rescue_delay=AT_ONCE)
    assert diagnosis.troubled == {"stuck-jobs"}
    assert str(job_id) in diagnosis["stuck-jobs"].message
    assert "newest 100,000" in diagnosis["stuck-jobs"].message


def test_pending_job_without_attempts_left(sql: Connection, diagnose: Diagnose) -> None:
    job_id = insert(sql, "job_type, attempts, max_attempts", "'letter', 3, 3")
    diagnosis = diagnose()
    assert diagnosis.troubled == {"used-up-jobs"}
    assert str(job_id) in diagnosis["used-up-jobs"].message
    sql.execute("SELECT retry_job(%s)", (job_id,))
    assert diagnose()["used-up-jobs"].level is Level.OK


@pytest.mark.parametrize("line", ["ready", "scheduled", "lanes"])
def test_pending_job_in_no_line(sql: Connection, diagnose: Diagnose, line: str) -> None:
    register(sql, "w1", ["letter"])
    run_at = "now() + interval '1 hour'" if line == "scheduled" else "NULL"
    job_id = insert(sql, "job_type, run_at", f"'letter', {run_at}")
    assert diagnose().troubled == set()
    sql.execute(f"DELETE FROM {line}".encode())
    diagnosis = diagnose()
    assert diagnosis.troubled == {"lost-jobs"}
    assert diagnosis["lost-jobs"].level is Level.FAIL
    assert f"{job_id} (letter)" in diagnosis["lost-jobs"].message
    sql.execute("SELECT retry_job(%s)", (job_id,))


def test_many_lost_jobs_are_counted_and_the_search_is_bounded(sql: Connection, diagnose: Diagnose) -> None:
    sql.execute("INSERT INTO jobs (job_type) SELECT 'letter' FROM generate_series(1, 10)")
    sql.execute("DELETE FROM ready")
    assert "and 7 more" in diagnose()["lost-jobs"].message
    insert(sql, "job_type, status", "'letter', 'completed'")
    assert diagnose(newest=1).troubled == set()


def test_scheduled_job_that_stays_behind(sql: Connection, diagnose: Diagnose) -> None:
    job_id = insert(sql, "job_type, run_at", "'letter', now() + interval '1 hour'")
    with sql.transaction():
        # As if nobody had claimed since: the triggers would move it at once.
        sql.execute("SET LOCAL session_replication_role = replica")
        sql.execute("UPDATE jobs SET run_at = now() - interval '5 minutes'")
        sql.execute("UPDATE scheduled SET run_at = now() - interval '5 minutes' WHERE id = %s", (job_id,))
    assert diagnose().troubled == {"workers"}
    register(sql, "w1", ["letter"])
    diagnosis = diagnose()
    assert diagnosis.troubled == {"overdue-jobs"}
    assert "1 scheduled job late, by up to 5 min" in diagnosis["overdue-jobs"].message
    assert diagnose(overdue=timedelta(minutes=10)).troubled == set()
