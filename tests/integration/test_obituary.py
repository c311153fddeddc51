"""What becomes of a worker's jobs when somebody has seen its process end."""

from __future__ import annotations

from typing import Any

import psycopg

from howdah import Howdah
from howdah.maintenance.store import Rescued, bury, rescue
from tests.integration.test_contract import claim, insert, value
from tests.integration.test_surface import one

Sql = psycopg.Connection[Any]


def sign_on(sql: Sql, *workers: str) -> None:
    for worker in workers:
        sql.execute("SELECT register_worker(%s, '10 minutes', '{default}', '{plain}', '{}')", (worker,))


def fell(app: Howdah, worker: str) -> list[Rescued]:
    return app.sessions.run(lambda: bury(worker))


def counters(sql: Sql, job: Any) -> tuple[Any, ...]:
    return tuple(value(sql, column, job) for column in ("status", "attempts", "deaths", "worker_id"))


def test_only_what_the_dead_one_held_is_given_back_and_charged(app: Howdah, sql: Sql) -> None:
    sign_on(sql, "a", "b")
    mine, others, last = insert(sql), insert(sql), insert(sql, max_attempts=1)
    assert claim(sql, "a", n=1) == [mine]
    assert claim(sql, "b", n=1) == [others]
    assert claim(sql, "a", n=1) == [last]
    assert {(job.job_id, job.status, job.deaths, job.worker_id) for job in fell(app, "a")} == {
        (mine, "pending", 1, "a"),
        (last, "failed", 1, "a"),
    }
    assert counters(sql, mine) == ("pending", 1, 1, None)
    assert counters(sql, others) == ("claimed", 1, 0, "b")
    assert value(sql, "last_error", mine) == "worker a died while holding this job (death 1 of 3 allowed)"
    assert "on its last attempt" in value(sql, "last_error", last)
    assert claim(sql, "b") == [mine], "at once"
    assert fell(app, "a") == [], "said twice is the same as once"
    assert fell(app, "nobody") == []
    assert [job.worker_id for job in fell(app, "b")] == ["b", "b"]


def test_a_suspect_that_had_not_started_is_charged_nothing_and_poison_is_found(app: Howdah, sql: Sql) -> None:
    sign_on(sql, "a")
    job, innocent = insert(sql, deaths=2), insert(sql, deaths=2)
    assert claim(sql, "a") == [job, innocent]
    assert sql.execute("SELECT start_job(%s, %s)", (job, value(sql, "lease", job))).fetchone() == (True,)
    fell(app, "a")
    assert counters(sql, job)[:3] == ("failed", 1, 3)
    assert value(sql, "last_error", job).startswith("poison: worker a died")
    assert counters(sql, innocent) == ("pending", 0, 2, None)


def test_a_claim_that_commits_after_its_worker_was_buried_is_rescued_with_its_silence(app: Howdah, sql: Sql) -> None:
    """The server may still be at work on a statement of a process that has ended."""
    sign_on(sql, "a")
    first, second = insert(sql), insert(sql)
    assert claim(sql, "a", n=1) == [first]
    fell(app, "a")
    sql.execute("UPDATE jobs SET run_at = now() + interval '1 hour' WHERE id = %s", (first,))
    assert claim(sql, "a") == [second]
    # Its silence is over; the row is backdated, because nobody here waits for ten minutes.
    sql.execute("UPDATE workers SET silence = '1 millisecond', heartbeat_at = now() - interval '1 minute'")
    assert [job.job_id for job in app.sessions.run(rescue)] == [second]
    assert (one(sql, "SELECT count(*) FROM workers"), one(sql, "SELECT count(*) FROM claims")) == (0, 0)
