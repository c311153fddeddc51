"""Each guard of a lease, taken out on purpose: without it the late write is accepted, so the guard is what refuses it.

The functions are taken from the database as migrated, changed in one place and put back; a guard that is gone from the
source makes its case here fail, because there is nothing to take out.
"""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.integration.test_contract import claim, insert, value

Sql = psycopg.Connection[Any]
LEASE = "AND j.lease = t.lease"
HELD = "AND j.status IN ('claimed', 'running')"
BATCH = 200

LATE_WRITES = {
    "complete_jobs": "SELECT cardinality(complete_jobs(%(ids)s, %(leases)s, %(nulls)s::text[], %(zeros)s, '{}'))",
    "finish_jobs": (
        "SELECT %(many)s - count(*) FROM finish_jobs(%(ids)s, %(leases)s, %(words)s, %(nulls)s::text[],"
        " %(nulls)s::float8[], %(zeros)s, '{}')"
    ),
    "report_jobs": (
        "SELECT %(many)s - count(*) FROM report_jobs(%(ids)s, %(leases)s, %(ones)s, %(nulls)s::text[], %(zeros)s)"
    ),
    "record_events": (
        "SELECT %(many)s - count(*) FROM record_events(%(ids)s, %(leases)s, %(ones)s, %(words)s,"
        " %(nulls)s::text[], %(zeros)s)"
    ),
    "heartbeat": ("SELECT count(*) FILTER (WHERE verdict = 'lost') FROM heartbeat('late', %(ids)s, %(leases)s)"),
}


def take_out(sql: Sql, function: str, guard: str) -> None:
    row = sql.execute(
        "SELECT pg_get_functiondef(p.oid) FROM pg_proc AS p"
        " WHERE p.proname = %s AND p.pronamespace = 'howdah'::regnamespace",
        (function,),
    ).fetchone()
    assert row is not None
    # record_events matches against its own alias of the arrays.
    found = guard if guard in row[0] else guard.replace("t.lease", "s.lease")
    assert row[0].count(found) == 1, f"{function} has no {guard!r}"
    sql.execute(row[0].replace(found, "").encode())


def stale_batch(sql: Sql, *, retaken: bool) -> dict[str, Any]:
    """Jobs that a late worker once held: retaken by another, or put back into the line."""
    sql.execute("INSERT INTO jobs (job_type) SELECT 'plain' FROM generate_series(1, %s)", (BATCH,))
    held = sql.execute(
        "SELECT id, lease FROM claim_job_batch('late', ARRAY['plain'], %s) ORDER BY id", (BATCH,)
    ).fetchall()
    assert len(held) == BATCH
    sql.execute("UPDATE jobs SET status = 'pending', worker_id = NULL, claimed_at = NULL")
    if retaken:
        assert len(claim(sql, worker="new", n=BATCH)) == BATCH
    return {
        "ids": [row[0] for row in held],
        "leases": [row[1] for row in held],
        "words": ["retry"] * BATCH,
        "nulls": [None] * BATCH,
        "zeros": [0.0] * BATCH,
        "ones": [1] * BATCH,
        "many": BATCH,
    }


def refusals(sql: Sql, function: str, late: dict[str, Any]) -> int:
    row = sql.execute(LATE_WRITES[function].encode(), late).fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.parametrize("function", LATE_WRITES)
def test_two_hundred_late_writes_are_refused_and_change_nothing(sql: Sql, function: str) -> None:
    for retaken in (True, False):
        sql.execute("DELETE FROM jobs")
        late = stale_batch(sql, retaken=retaken)
        before = sql.execute("SELECT * FROM jobs ORDER BY id").fetchall()
        assert refusals(sql, function, late) == BATCH
        assert sql.execute("SELECT * FROM jobs ORDER BY id").fetchall() == before
        assert sql.execute("SELECT count(*) FROM job_events WHERE seq > 0").fetchone() == (0,)


@pytest.mark.parametrize("function", LATE_WRITES)
def test_without_the_lease_the_late_write_is_accepted(sql: Sql, function: str) -> None:
    take_out(sql, function, LEASE)
    if function == "complete_jobs":
        # What complete_jobs calls refused is looked up again by lease; count what it changed instead.
        refusals(sql, function, stale_batch(sql, retaken=True))
        assert sql.execute("SELECT count(*) FROM jobs WHERE status = 'completed'").fetchone() == (BATCH,)
    else:
        assert refusals(sql, function, stale_batch(sql, retaken=True)) == 0


@pytest.mark.parametrize("function", LATE_WRITES)
def test_without_the_status_the_late_write_is_accepted(sql: Sql, function: str) -> None:
    take_out(sql, function, HELD)
    if function == "complete_jobs":
        refusals(sql, function, stale_batch(sql, retaken=False))
        assert sql.execute("SELECT count(*) FROM jobs WHERE status = 'completed'").fetchone() == (BATCH,)
    else:
        assert refusals(sql, function, stale_batch(sql, retaken=False)) == 0


def test_without_its_guard_the_rescue_takes_jobs_from_the_living(sql: Sql) -> None:
    job_id = insert(sql)
    claim(sql, worker="lives")
    # The claim is long ago, and the server has run for longer than the silence: only the heartbeat speaks for it.
    sql.execute("UPDATE claims SET claimed_at = now() - interval '1 hour'")
    sql.execute("SELECT pg_sleep_until(pg_postmaster_start_time() + interval '3.1 seconds')")
    sql.execute("SELECT register_worker('lives', '3 seconds', '{}', '{}', '{}')")
    sql.execute("SELECT * FROM rescue_jobs()")
    assert value(sql, "status", job_id) == "claimed"
    take_out(sql, "rescue_jobs", "w.heartbeat_at < clock_timestamp() - w.silence AND ")
    sql.execute("SELECT * FROM rescue_jobs()")
    assert value(sql, "status", job_id) == "pending"


def test_the_rescue_does_not_count_the_time_that_the_server_was_down(sql: Sql) -> None:
    job_id = insert(sql)
    claim(sql, worker="w")
    sql.execute("UPDATE claims SET claimed_at = now() - interval '2 days'")
    sql.execute("SELECT register_worker('w', '1 day', '{}', '{}', '{}')")
    sql.execute("UPDATE workers SET heartbeat_at = now() - interval '2 days'")
    sql.execute("SELECT * FROM rescue_jobs()")
    # Silent for two days, but the server has run for minutes: nobody could have beaten before.
    assert value(sql, "status", job_id) == "claimed"
    take_out(sql, "rescue_jobs", "AND pg_postmaster_start_time() < clock_timestamp() - w.silence")
    sql.execute("SELECT * FROM rescue_jobs()")
    assert value(sql, "status", job_id) == "pending"


def test_an_unstarted_suspect_is_not_charged_and_a_started_one_is(sql: Sql) -> None:
    started, unstarted = insert(sql, deaths=1, priority=2), insert(sql, deaths=1, priority=1)
    claim(sql, worker="w")
    sql.execute("SELECT register_worker('w', '1 millisecond', '{}', '{}', '{}')")
    sql.execute("SELECT start_job(id, lease) FROM jobs WHERE id = %s", (started,))
    sql.execute("SELECT pg_sleep(0.01)")
    sql.execute("SELECT * FROM rescue_jobs()")
    assert (value(sql, "deaths", started), value(sql, "attempts", started)) == (2, 1)
    assert (value(sql, "deaths", unstarted), value(sql, "attempts", unstarted)) == (1, 0)


def test_a_plain_caller_marks_no_starts_and_its_poison_does_end(sql: Sql) -> None:
    job_id = insert(sql, max_attempts=50)
    for _ in range(3):
        assert claim(sql, worker="plain") == [job_id]
        assert sql.execute("SELECT recover_stale_jobs('0 seconds')").fetchone() == (1,)
    assert (value(sql, "status", job_id), value(sql, "deaths", job_id)) == ("failed", 3)
    assert value(sql, "last_error", job_id).startswith("poison: ")
