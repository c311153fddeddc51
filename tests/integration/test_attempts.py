"""What became of a job's attempts is kept, whoever ended them, and goes with the job."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import psycopg
import pytest

from howdah.admin.attempt_store import Attempt, list_attempts
from howdah.app import Howdah

Sql = psycopg.Connection[Any]


def enqueue(sql: Sql, max_attempts: int = 3) -> UUID:
    row = sql.execute("SELECT enqueue_job('plain', p_max_attempts => %s)", (max_attempts,)).fetchone()
    assert row is not None
    found: UUID = row[0]
    return found


def claim(sql: Sql) -> tuple[UUID, int]:
    sql.execute("UPDATE jobs SET run_at = NULL WHERE status = 'pending'")
    row = sql.execute("SELECT c.id, c.lease FROM claim_job_batch('w', ARRAY['plain'], 1) AS c").fetchone()
    assert row is not None
    return row[0], row[1]


def kept(app: Howdah, job_id: UUID) -> list[Attempt]:
    return app.sessions.run(lambda: list_attempts(job_id))


def brief(attempts: list[Attempt]) -> list[tuple[int, str, str | None]]:
    return [(attempt.number, attempt.outcome, attempt.error) for attempt in attempts]


def test_each_error_is_kept_with_who_and_when(sql: Sql, app: Howdah) -> None:
    job_id = enqueue(sql, 2)
    for number in (1, 2):
        _, lease = claim(sql)
        sql.execute("SELECT start_job(%s, %s)", (job_id, lease))
        sql.execute("SELECT fail_job(%s, %s, %s)", (job_id, lease, f"error {number}"))
    found = kept(app, job_id)
    assert brief(found) == [(2, "failed", "error 2"), (1, "error", "error 1")]
    for attempt in found:
        assert attempt.worker_id == "w"
        assert attempt.claimed_at is not None
        assert attempt.started_at is not None
        assert attempt.ended_at is not None
        assert attempt.claimed_at <= attempt.started_at <= attempt.ended_at
    assert app.get(job_id).events() == []
    assert app.get(job_id).record.events_count == 0


def test_plain_statements_and_deaths_are_kept_too(sql: Sql, app: Howdah) -> None:
    job_id = enqueue(sql, 9)
    claim(sql)
    sql.execute("UPDATE jobs SET status = 'pending', worker_id = NULL, last_error = 'plain' WHERE id = %s", (job_id,))
    claim(sql)
    sql.execute("UPDATE jobs SET claimed_at = now() - interval '2 hours'")
    sql.execute("SELECT recover_stale_jobs()")
    assert [(n, o) for n, o, _ in brief(kept(app, job_id))] == [(2, "died"), (1, "returned")]


def test_a_completion_leaves_nothing_until_it_is_undone(sql: Sql, app: Howdah) -> None:
    job_id = enqueue(sql)
    _, lease = claim(sql)
    sql.execute("SELECT complete_job(%s, %s)", (job_id, lease))
    assert kept(app, job_id) == []
    sql.execute("SELECT retry_job(%s)", (job_id,))
    assert brief(kept(app, job_id)) == [(1, "completed", None)]


def test_what_is_not_counted_leaves_nothing(sql: Sql, app: Howdah) -> None:
    job_id = enqueue(sql)
    _, lease = claim(sql)
    sql.execute("SELECT release_job(%s, %s)", (job_id, lease))
    assert kept(app, job_id) == []


def test_the_last_fifty_are_kept(sql: Sql, app: Howdah) -> None:
    job_id = enqueue(sql, 1000)
    for number in range(1, 61):
        _, lease = claim(sql)
        sql.execute("SELECT fail_job(%s, %s, %s)", (job_id, lease, f"e{number}"))
    assert [attempt.number for attempt in kept(app, job_id)] == list(range(60, 10, -1))


@pytest.mark.parametrize("ending", ["SELECT fail_job(%(id)s, %(lease)s, 'x')", "SELECT cancel_job(%(id)s)"])
def test_the_records_go_with_the_job(sql: Sql, ending: str) -> None:
    enqueue(sql, 1)
    job_id, lease = claim(sql)
    sql.execute(ending.encode(), {"id": job_id, "lease": lease})
    sql.execute("SELECT fail_job(%s, %s, 'y')", (job_id, lease))
    assert sql.execute("SELECT count(*) FROM job_events").fetchone() == (1,)
    sql.execute("DELETE FROM jobs")
    assert sql.execute("SELECT count(*) FROM job_events").fetchone() == (0,)
