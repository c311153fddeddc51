from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg
import pytest

from howdah.admin.doctor import examination, store
from howdah.admin.doctor.examination import CHECKS, Check
from howdah.admin.doctor.finding import Level, Verdict, ok
from howdah.admin.doctor.patient import Patient
from tests.conftest import Database
from tests.doctor.conftest import Diagnose

Connection = psycopg.Connection[Any]


def test_a_check_that_takes_too_long_lets_the_others_run(database: Database, diagnose: Diagnose) -> None:
    with database.connect() as hog:
        hog.execute("BEGIN")
        hog.execute("LOCK TABLE scheduled IN ACCESS EXCLUSIVE MODE")
        diagnosis = diagnose(check_time=timedelta(milliseconds=200))
    assert diagnosis.troubled == {"workers", "lost-jobs", "overdue-jobs"}
    for check in diagnosis.troubled:
        assert diagnosis[check].level is Level.WARN
        assert diagnosis[check].message == "took too long"


def test_a_check_that_cannot_ask_fails_alone(sql: Connection, diagnose: Diagnose) -> None:
    sql.execute("DROP TABLE scheduled")
    diagnosis = diagnose()
    assert {"workers", "lost-jobs", "overdue-jobs"} <= diagnosis.troubled
    assert diagnosis["overdue-jobs"].level is Level.FAIL
    assert "scheduled" in diagnosis["overdue-jobs"].message
    assert diagnosis["pauses"].level is Level.OK


def test_a_lost_connection_and_a_broken_check_fail_alone(
    database: Database, sql: Connection, diagnose: Diagnose, monkeypatch: pytest.MonkeyPatch
) -> None:
    def be_disconnected(patient: Patient) -> Verdict:
        sql.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE application_name = 'howdah doctor' AND datname = %s",
            (database.name,),
        )
        return ok(f"{patient.ask(store.has_waiting())}")

    def stumble(patient: Patient) -> Verdict:
        raise ZeroDivisionError

    planted = (Check("disconnected", be_disconnected), Check("stumbling", stumble))
    monkeypatch.setattr(examination, "CHECKS", (*planted, *CHECKS))
    diagnosis = diagnose()
    assert diagnosis.troubled == {"disconnected", "stumbling"}
    assert diagnosis["disconnected"].message.startswith("could not be examined: cannot use the database")
    assert "ZeroDivisionError" in diagnosis["stumbling"].message


def test_the_doctor_changes_nothing(sql: Connection, diagnose: Diagnose, monkeypatch: pytest.MonkeyPatch) -> None:
    def meddle(patient: Patient) -> Verdict:
        from howdah.db.op import Operation, Statement

        def write() -> Operation[None]:
            yield Statement("maintenance/sweep_lanes")

        patient.ask(write())
        return ok("written")

    monkeypatch.setattr(examination, "CHECKS", (Check("meddling", meddle),))
    finding = diagnose()["meddling"]
    assert finding.level is Level.FAIL
    assert "read-only" in finding.message


def test_every_unhappy_finding_names_a_next_step(sql: Connection, diagnose: Diagnose) -> None:
    sql.execute("INSERT INTO jobs (job_type) VALUES ('letter')")
    sql.execute("DELETE FROM ready")
    for finding in diagnose().findings:
        assert (finding.next_step is None) == (finding.level is Level.OK)
