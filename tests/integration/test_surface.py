"""The SQL functions for any language, each with and without the right lease."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import psycopg
import pytest

from tests.integration.test_contract import claim, insert, value
from tests.rig.waiting import until

Sql = psycopg.Connection[Any]


def held(sql: Sql, **columns: Any) -> tuple[Any, int]:
    job_id = insert(sql, **columns)
    assert claim(sql) == [job_id]
    return job_id, value(sql, "lease", job_id)


def one(sql: Sql, query: str, *parameters: Any) -> Any:
    row = sql.execute(query.encode(), parameters).fetchone()
    assert row is not None
    return row[0]


FENCED = [
    ("SELECT start_job(%s, %s)", True, False),
    ("SELECT report_progress(%s, %s, 50, 'half')", True, False),
    ("SELECT record_event(%s, %s, 'said', '{\"a\": 1}')", True, False),
    ("SELECT complete_job(%s, %s, '{\"r\": 1}')", True, False),
    ("SELECT fail_job(%s, %s, 'broke')", "pending", None),
    ("SELECT release_job(%s, %s)", True, False),
]


@pytest.mark.parametrize(("call", "accepted", "refused"), FENCED)
def test_a_write_with_an_old_lease_changes_nothing(sql: Sql, call: str, accepted: Any, refused: Any) -> None:
    job_id, old = held(sql)
    sql.execute("UPDATE jobs SET status = 'pending', worker_id = NULL, claimed_at = NULL WHERE id = %s", (job_id,))
    assert claim(sql, worker="second") == [job_id]
    new = value(sql, "lease", job_id)
    assert new > old
    before = sql.execute("SELECT * FROM jobs WHERE id = %s", (job_id,)).fetchone()
    assert (sql.execute(call.encode(), (job_id, old)).fetchone() or (None,))[0] == refused
    assert sql.execute("SELECT * FROM jobs WHERE id = %s", (job_id,)).fetchone() == before
    assert one(sql, call, job_id, new) == accepted
    assert sql.execute("SELECT * FROM jobs WHERE id = %s", (job_id,)).fetchone() != before


@pytest.mark.parametrize(("call", "accepted", "refused"), FENCED)
@pytest.mark.parametrize("status", ["pending", "cancelled", "failed"])
def test_a_write_after_the_job_was_taken_away_changes_nothing(
    sql: Sql, call: str, accepted: Any, refused: Any, status: str
) -> None:
    job_id, lease = held(sql)
    sql.execute("UPDATE jobs SET status = %s WHERE id = %s", (status, job_id))
    before = sql.execute("SELECT * FROM jobs WHERE id = %s", (job_id,)).fetchone()
    assert (sql.execute(call.encode(), (job_id, lease)).fetchone() or (None,))[0] == refused
    assert sql.execute("SELECT * FROM jobs WHERE id = %s", (job_id,)).fetchone() == before
    assert sql.execute("SELECT count(*) FROM job_events WHERE seq > 0").fetchone() == (0,)
    assert accepted != refused


CLAIMS = {
    "claim_job_batch": "SELECT c.lease FROM claim_job_batch('w', ARRAY['plain'], 1) AS c",
    "claim_jobs": "SELECT c.lease FROM claim_jobs('w', ARRAY['plain'], 1) AS c",
    "claim_from_marks": (
        "SELECT c.lease FROM claim_from_marks('w', ARRAY['plain'], 1, NULL, NULL, NULL, NULL, NULL, NULL) AS c"
        " WHERE c.id IS NOT NULL"
    ),
}


@pytest.mark.parametrize("function", CLAIMS)
def test_a_lease_is_never_given_twice_although_the_attempt_was_given_back(sql: Sql, function: str) -> None:
    job_id = insert(sql)
    old = one(sql, CLAIMS[function])
    assert one(sql, "SELECT release_job(%s, %s)", job_id, old) is True
    new = one(sql, CLAIMS[function])
    assert value(sql, "attempts", job_id) == 1
    assert one(sql, "SELECT complete_job(%s, %s)", job_id, old) is False
    assert new > old
    assert one(sql, "SELECT complete_job(%s, %s)", job_id, new) is True


def test_completing_twice_with_the_same_lease_is_the_same_as_once(sql: Sql) -> None:
    job_id, lease = held(sql)
    assert one(sql, "SELECT complete_job(%s, %s, '[1]')", job_id, lease) is True
    first = sql.execute("SELECT * FROM jobs WHERE id = %s", (job_id,)).fetchone()
    assert one(sql, "SELECT complete_job(%s, %s, '[2]')", job_id, lease) is True
    assert sql.execute("SELECT * FROM jobs WHERE id = %s", (job_id,)).fetchone() == first


def test_start_progress_and_stage(sql: Sql) -> None:
    job_id, lease = held(sql)
    assert one(sql, "SELECT start_job(%s, %s)", job_id, lease)
    assert value(sql, "status", job_id) == "running"
    assert value(sql, "started_at IS NOT NULL", job_id)
    sql.execute("SELECT report_progress(%s, %s, 40, 'cutting')", (job_id, lease))
    sql.execute("SELECT report_progress(%s, %s, 30)", (job_id, lease))
    assert (value(sql, "progress", job_id), value(sql, "current_stage", job_id)) == (40, "cutting")
    sql.execute("SELECT report_progress(%s, %s, 70, 'glueing')", (job_id, lease))
    assert (value(sql, "progress", job_id), value(sql, "current_stage", job_id)) == (70, "glueing")


def test_progress_begins_again_with_a_new_claim(sql: Sql) -> None:
    job_id, lease = held(sql)
    sql.execute("SELECT report_progress(%s, %s, 90, 'end')", (job_id, lease))
    sql.execute("SELECT release_job(%s, %s)", (job_id, lease))
    claim(sql)
    assert (value(sql, "progress", job_id), value(sql, "current_stage", job_id)) == (0, None)


def test_events_are_kept_in_order_counted_and_removed_with_the_job(sql: Sql) -> None:
    job_id, lease = held(sql)
    for n in range(3):
        assert one(sql, "SELECT record_event(%s, %s, %s, %s::jsonb)", job_id, lease, f"e{n}", f'{{"n": {n}}}')
    assert value(sql, "events_count", job_id) == 3
    rows = sql.execute("SELECT seq, name, data, attempt FROM job_events ORDER BY seq").fetchall()
    assert rows == [(n + 1, f"e{n}", {"n": n}, 1) for n in range(3)]
    sql.execute("DELETE FROM jobs WHERE id = %s", (job_id,))
    assert sql.execute("SELECT count(*) FROM job_events").fetchone() == (0,)


def test_fail_job_retries_after_its_delay_and_then_fails(sql: Sql) -> None:
    job_id, lease = held(sql, max_attempts=2)
    assert one(sql, "SELECT fail_job(%s, %s, 'one', interval '1 hour')", job_id, lease) == "pending"
    assert value(sql, "run_at - now() BETWEEN '59 minutes' AND '60 minutes'", job_id)
    assert value(sql, "errors", job_id) == 1
    assert claim(sql) == []
    assert one(sql, "SELECT retry_job(%s)", job_id) == "pending"
    assert claim(sql) == [job_id]
    assert one(sql, "SELECT fail_job(%s, %s, 'two')", job_id, value(sql, "lease", job_id)) == "failed"
    assert (value(sql, "last_error", job_id), value(sql, "errors", job_id)) == ("two", 2)
    assert value(sql, "completed_at IS NOT NULL", job_id)


def test_fail_job_with_default_backoff_and_final(sql: Sql) -> None:
    job_id, lease = held(sql)
    assert one(sql, "SELECT fail_job(%s, %s, 'one')", job_id, lease) == "pending"
    assert value(sql, "run_at - now() BETWEEN '-1 second' AND '2 seconds'", job_id)
    other, lease = held(sql)
    assert one(sql, "SELECT fail_job(%s, %s, 'no', p_final => true)", other, lease) == "failed"


def test_release_costs_nothing(sql: Sql) -> None:
    job_id, lease = held(sql)
    assert one(sql, "SELECT release_job(%s, %s)", job_id, lease)
    assert (value(sql, "attempts", job_id), value(sql, "errors", job_id), value(sql, "deaths", job_id)) == (0, 0, 0)
    assert claim(sql) == [job_id]


def test_cancel_job_in_every_state(sql: Sql) -> None:
    waiting = insert(sql)
    assert one(sql, "SELECT cancel_job(%s)", waiting) == "cancelled"
    assert claim(sql) == []
    running, lease = held(sql)
    assert one(sql, "SELECT cancel_job(%s)", running) == "requested"
    assert sql.execute("SELECT * FROM heartbeat('w', %s, %s)", ([running], [lease])).fetchall() == [(running, "cancel")]
    # It does not come back: whatever else its end would have been, it is cancelled.
    assert one(sql, "SELECT fail_job(%s, %s, 'x')", running, lease) == "cancelled"
    assert one(sql, "SELECT cancel_job(%s)", running) == "cancelled"
    assert one(sql, "SELECT cancel_job(%s)", uuid4()) is None


def test_retry_job_in_every_state(sql: Sql) -> None:
    job_id, lease = held(sql, max_attempts=1)
    assert one(sql, "SELECT retry_job(%s)", job_id) == "claimed"
    sql.execute("SELECT fail_job(%s, %s, 'x')", (job_id, lease))
    assert value(sql, "status", job_id) == "failed"
    assert one(sql, "SELECT retry_job(%s)", job_id) == "pending"
    assert claim(sql) == [job_id]
    assert one(sql, "SELECT retry_job(%s)", uuid4()) is None


def test_heartbeat_says_which_jobs_are_held_and_which_are_lost(sql: Sql) -> None:
    mine, lease = held(sql)
    gone, old = held(sql)
    sql.execute("UPDATE jobs SET status = 'pending' WHERE id = %s", (gone,))
    rows = sql.execute("SELECT id, verdict FROM heartbeat('w', %s, %s)", ([mine, gone], [lease, old])).fetchall()
    assert dict(rows) == {mine: "held", gone: "lost"}
    assert sql.execute("SELECT id FROM workers").fetchall() == [("w",)]


def test_enqueue_job_with_all_defaults_and_with_none(sql: Sql) -> None:
    plain = one(sql, "SELECT enqueue_job('plain')")
    assert value(sql, "data", plain) == {}
    mine = uuid4()
    call = (
        "SELECT enqueue_job(p_job_type => 'other', p_data => '{\"x\": 1}', p_priority => 7, p_queue => 'q',"
        " p_run_at => '2999-01-01', p_max_attempts => 9, p_id => %s)"
    )
    assert [one(sql, call, mine), one(sql, call, mine)] == [mine, mine]
    row = sql.execute(
        "SELECT job_type, data, priority, queue, extract(year FROM run_at)::int, max_attempts FROM jobs WHERE id = %s",
        (mine,),
    ).fetchall()
    assert row == [("other", {"x": 1}, 7, "q", 2999, 9)]


def test_a_due_job_is_promoted_by_the_claim_itself(sql: Sql) -> None:
    job_id = one(sql, "SELECT enqueue_job('plain', p_run_at => now() + interval '300 milliseconds')")
    assert claim(sql) == []
    assert until(lambda: claim(sql), "it is due") == [job_id]


def test_retry_leaves_no_trace_of_the_last_attempt(sql: Sql) -> None:
    job_id, lease = held(sql)
    sql.execute("SELECT report_progress(%s, %s, 40, 'cutting')", (job_id, lease))
    sql.execute("SELECT fail_job(%s, %s, 'x', p_final => true)", (job_id, lease))
    sql.execute("SELECT retry_job(%s)", (job_id,))
    row = sql.execute("SELECT progress, current_stage, started_at, completed_at FROM jobs").fetchone()
    assert row == (0, None, None, None)


def test_a_registered_worker_leaves_no_claims_behind_and_signs_off(sql: Sql) -> None:
    sql.execute("SELECT register_worker('go', '30 seconds', '{default}', '{plain}', '{}')")
    for _ in range(3):
        job_id = insert(sql)
        assert claim(sql, worker="go") == [job_id]
        assert one(sql, "SELECT complete_job(%s, %s)", job_id, value(sql, "lease", job_id))
    sql.execute("UPDATE claims SET claimed_at = now() - interval '2 minutes'")
    sql.execute("SELECT * FROM rescue_jobs()")
    assert sql.execute("SELECT count(*) FROM claims").fetchone() == (0,)
    job_id = insert(sql)
    claim(sql, worker="go")
    assert one(sql, "SELECT unregister_worker('go')") is False
    sql.execute("SELECT release_job(%s, %s)", (job_id, value(sql, "lease", job_id)))
    assert one(sql, "SELECT unregister_worker('go')") is True
    assert sql.execute("SELECT (SELECT count(*) FROM workers), (SELECT count(*) FROM claims)").fetchone() == (0, 0)


def test_no_attempts_at_all_is_no_number_of_attempts(sql: Sql) -> None:
    with pytest.raises(psycopg.errors.CheckViolation, match="max_attempts"):
        sql.execute("SELECT enqueue_job('plain', p_max_attempts => 0)")


def test_a_worker_that_was_given_up_and_claims_before_it_beats_again_is_not_forgotten(sql: Sql) -> None:
    """Cut off beyond its silence, back, claims, and killed before its next heartbeat: its jobs are rescued with its own
    silence, and not an hour later as a plain caller's would be."""
    sql.execute("SELECT register_worker('away', '5 seconds', '{default}', '{plain}', '{}')")
    # Silence counts from the server's own start at the earliest.
    started = "SELECT pg_postmaster_start_time() < clock_timestamp() - interval '6 seconds'"
    until(lambda: one(sql, started), "the server has been up for long enough")
    first = insert(sql)
    assert claim(sql, worker="away") == [first]
    sql.execute("UPDATE workers SET heartbeat_at = now() - interval '6 seconds'")
    sql.execute("UPDATE claims SET claimed_at = now() - interval '6 seconds'")
    assert [row[0] for row in sql.execute("SELECT id FROM rescue_jobs()")] == [first]

    assert claim(sql, worker="away") == [first]
    assert sql.execute("SELECT id FROM rescue_jobs()").fetchall() == [], "a claim is a sign of life"
    sql.execute("UPDATE claims SET claimed_at = now() - interval '6 seconds'")
    assert [row[0] for row in sql.execute("SELECT id FROM rescue_jobs()")] == [first]
    assert sql.execute("SELECT count(*) FROM claims").fetchone() == (0,)

    assert sql.execute("SELECT count(*) FROM workers").fetchone() == (1,)
    sql.execute("UPDATE workers SET heartbeat_at = now() - interval '6 hours'")
    sql.execute("SELECT * FROM rescue_jobs()")
    assert sql.execute("SELECT count(*) FROM workers").fetchone() == (0,), "in the end it is gone"
