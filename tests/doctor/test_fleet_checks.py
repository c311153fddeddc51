from __future__ import annotations

from typing import Any

import psycopg

from howdah.admin.doctor.finding import Level
from tests.doctor.conftest import Diagnose
from tests.doctor.fleet import register

Connection = psycopg.Connection[Any]


def test_no_worker_while_jobs_wait(sql: Connection, diagnose: Diagnose) -> None:
    sql.execute("INSERT INTO jobs (job_type) VALUES ('letter')")
    diagnosis = diagnose()
    assert diagnosis.troubled == {"workers"}
    assert diagnosis["workers"].level is Level.WARN
    register(sql, "w1", ["letter"])
    assert diagnose().troubled == set()


def test_silent_worker(sql: Connection, diagnose: Diagnose) -> None:
    register(sql, "lively", ["letter"])
    register(sql, "weary", ["letter"])
    assert diagnose().troubled == set()
    # Silence counts from the server's own start.
    sql.execute(
        "UPDATE workers SET heartbeat_at = now() - interval '1 hour',"
        " silence = (clock_timestamp() - pg_postmaster_start_time()) / 2 WHERE id = 'weary'"
    )
    diagnosis = diagnose()
    assert diagnosis.troubled == {"heartbeats"}
    assert "weary silent for" in diagnosis["heartbeats"].message
    assert "lively" not in diagnosis["heartbeats"].message
    sql.execute("UPDATE workers SET silence = '5 ms' WHERE id = 'weary'")
    assert diagnose().troubled == set(), "gone for good, and nothing is in its hands"


def test_job_type_that_no_live_worker_knows(sql: Connection, diagnose: Diagnose) -> None:
    register(sql, "w1", ["letter"])
    sql.execute("INSERT INTO jobs (job_type) VALUES ('letter'), ('parcel'), ('parcel')")
    diagnosis = diagnose()
    assert diagnosis.troubled == {"unserved-types"}
    assert "parcel (2 jobs, queue default)" in diagnosis["unserved-types"].message
    assert "letter" not in diagnosis["unserved-types"].message
    assert "at least 1 job" in diagnose(count=1)["unserved-types"].message


def test_job_type_known_only_to_a_dead_worker(sql: Connection, diagnose: Diagnose) -> None:
    register(sql, "w1", ["letter"])
    register(sql, "w2", ["parcel"])
    sql.execute("UPDATE workers SET heartbeat_at = now() - interval '1 hour', silence = '5 ms' WHERE id = 'w2'")
    sql.execute("INSERT INTO jobs (job_type) VALUES ('parcel')")
    assert diagnose().troubled == {"unserved-types"}


def test_workers_that_do_not_say_what_they_serve(sql: Connection, diagnose: Diagnose) -> None:
    sql.execute("SELECT heartbeat('plain')")
    sql.execute("INSERT INTO jobs (job_type) VALUES ('parcel')")
    assert "did not say what they serve" in diagnose()["unserved-types"].message


def test_queue_that_no_live_worker_serves(sql: Connection, diagnose: Diagnose) -> None:
    register(sql, "w1", ["letter"])
    sql.execute("INSERT INTO jobs (job_type, queue) VALUES ('letter', 'attic'), ('letter', 'default')")
    diagnosis = diagnose()
    assert diagnosis.troubled == {"unserved-queues"}
    assert "attic (1 job of type letter)" in diagnosis["unserved-queues"].message
    register(sql, "w2", ["letter"], ["attic"])
    assert diagnose().troubled == set()


def test_pauses_are_shown_and_no_fault(sql: Connection, diagnose: Diagnose) -> None:
    register(sql, "w1", ["letter"])
    sql.execute("INSERT INTO jobs (job_type, queue) VALUES ('letter', 'attic'), ('parcel', 'default')")
    sql.execute("SELECT pause('queue', 'attic'), pause('type', 'parcel'), pause('type', 'rare')")
    diagnosis = diagnose()
    assert diagnosis.troubled == set()
    message = diagnosis["pauses"].message
    assert "queue attic" in message
    assert "type parcel" in message
    assert message.count("1 job waiting") == 2
    assert message.count("0 jobs waiting") == 1
