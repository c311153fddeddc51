"""Every text through the SQL surface, as any language calls it: kept as it is, or one error and nothing written."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.conftest import Database
from tests.corpus import hand_made
from tests.corpus.corpus import strings
from tests.corpus.judging import Sql, count, fits, reading, storable

#: All that are hand-made, and some of the others.
TEXTS = tuple(dict.fromkeys([*hand_made.STRINGS, *strings()[-150:]]))
#: What the driver refuses to send, and what the server refuses to keep.
Refused = (psycopg.DataError, psycopg.IntegrityError, UnicodeEncodeError)


@dataclass(frozen=True)
class Entry:
    """A statement that takes a text, what the text must be, where it is found again (None: nowhere), and whether a job
    waits or is held beforehand."""

    name: str
    call: str
    fits: Callable[[str], bool]
    found: str | None = None
    given: str = ""


def _up_to(least: int, most: int) -> Callable[[str], bool]:
    return lambda text: fits(text, least, most)


HELD = "(SELECT id FROM held), (SELECT lease FROM held)"
ENTRIES = [
    Entry("enqueue_job, type", "SELECT enqueue_job(%s)", _up_to(1, 50), "SELECT job_type::text FROM jobs"),
    Entry(
        "enqueue_job, queue", "SELECT enqueue_job('a', p_queue => %s)", _up_to(1, 50), "SELECT queue::text FROM jobs"
    ),
    Entry("insert, type", "INSERT INTO jobs (job_type) VALUES (%s)", _up_to(1, 50), "SELECT job_type::text FROM jobs"),
    Entry(
        "insert, stage", "INSERT INTO jobs (job_type, current_stage) VALUES ('a', %s)", _up_to(0, 100),
        "SELECT current_stage::text FROM jobs",
    ),
    Entry(
        "insert, status", "INSERT INTO jobs (job_type, status) VALUES ('a', %s)",
        lambda text: text in ("pending", "claimed"), "SELECT status FROM jobs",
    ),
    Entry(
        "insert, error", "INSERT INTO jobs (job_type, last_error) VALUES ('a', %s)", storable,
        "SELECT last_error FROM jobs",
    ),
    Entry(
        "claim, worker", "SELECT * FROM claim_job_batch(%s, ARRAY['a'])", _up_to(0, 100),
        "SELECT worker_id::text FROM jobs", given="waiting",
    ),
    Entry("claim, type", "SELECT * FROM claim_job_batch('w', ARRAY[%s])", storable),
    Entry("claim_jobs, queue", "SELECT * FROM claim_jobs('w', ARRAY['a'], 5, ARRAY[%s])", storable),
    Entry("heartbeat", "SELECT * FROM heartbeat(%s)", _up_to(1, 100), "SELECT id FROM workers"),
    Entry("pause", "SELECT pause('queue', %s)", storable, "SELECT name FROM pauses"),
    Entry("pause, kind", "SELECT pause(%s, 'x')", lambda text: text in ("queue", "type")),
    Entry("resume", "SELECT resume('queue', %s)", storable),
    Entry(
        "report_progress", f"SELECT report_progress({HELD}, 5, %s)", _up_to(0, 100),
        "SELECT current_stage::text FROM jobs", given="held",
    ),
    Entry(
        "record_event", f"SELECT record_event({HELD}, %s)", _up_to(1, 100), "SELECT name FROM job_events", given="held",
    ),
    Entry(
        "record_event, data", f"SELECT record_event({HELD}, 'x', to_jsonb(%s::text))", storable,
        "SELECT data #>> '{}' FROM job_events", given="held",
    ),
    Entry("fail_job", f"SELECT fail_job({HELD}, %s)", storable, "SELECT last_error FROM jobs", given="held"),
    Entry(
        "complete_job", f"SELECT complete_job({HELD}, to_jsonb(%s::text))", storable,
        "SELECT result #>> '{}' FROM jobs", given="held",
    ),
]  # fmt: skip


def _state(sql: Sql) -> list[Any]:
    """Everything that a statement may write."""
    tables = ("jobs", "ready", "scheduled", "claims", "workers", "pauses", "job_events", "lanes")
    return [sql.execute(f"SELECT t::text FROM {table} AS t ORDER BY 1".encode()).fetchall() for table in tables]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_text_is_kept_as_it_is_or_nothing_is_written(database: Database, entry: Entry) -> None:
    accepted = 0
    with reading(database) as sql:
        if entry.given:
            sql.execute("INSERT INTO jobs (job_type) VALUES ('a')")
        if entry.given == "held":
            sql.execute("CREATE TABLE held AS SELECT id, lease FROM claim_jobs('w', ARRAY['a'], 1)")
        before = _state(sql)
        for text in TEXTS:
            try:
                with sql.transaction(force_rollback=True):
                    sql.execute(entry.call.encode(), (text,))
                    accepted += 1
                    if entry.found is not None:
                        assert sql.execute(entry.found.encode()).fetchall() == [(text,)]
            except Refused:
                assert not entry.fits(text), f"{text!r} was refused"
            else:
                assert entry.fits(text), f"{text!r} was accepted"
        assert _state(sql) == before
    assert accepted >= 1


@pytest.mark.parametrize("size", [None, -(2**31), -1, 0, 1, 2**31 - 1])
def test_a_claim_of_any_size(database: Database, size: int | None) -> None:
    with reading(database) as sql:
        sql.execute("INSERT INTO jobs (job_type) SELECT 'a' FROM generate_series(1, 3)")
        got = sql.execute("SELECT id FROM claim_job_batch('w', ARRAY['a'], %s)", (size,)).fetchall()
        assert len(got) == min(3, max(0, size or 0))
        assert count(sql, "ready") == 3 - len(got)


TIMES = [
    "infinity",
    "-infinity",
    "9999-12-31",
    "10000-01-01",
    "294276-12-31",
    "0001-01-01",
    "0001-01-01 BC",
    "4713-01-01 BC",
]


@pytest.mark.parametrize("column", ["run_at", "created_at"])
def test_times_beyond_those_of_python_are_somebodys_times(database: Database, column: str) -> None:
    with reading(database) as sql:
        for time in TIMES:
            sql.execute(f"INSERT INTO jobs (job_type, {column}) VALUES ('a', %s::timestamptz)".encode(), (time,))
        sql.execute("INSERT INTO jobs (job_type) VALUES ('a')")
        due = count(sql, "jobs WHERE run_at IS NULL OR run_at <= now()")
        assert len(sql.execute("SELECT id FROM claim_jobs('w', ARRAY['a'], 100)").fetchall()) == due
        sql.execute("UPDATE jobs SET status = 'pending'")
        marks: Any = None
        for expected in (due, 0, 0):
            again = "claim_from_marks('w', ARRAY['a'], 100, NULL, NULL, NULL, %s::mark[], NULL, NULL)"
            about, *got = sql.execute(f"SELECT data, attempts FROM {again}".encode(), (marks,)).fetchall()
            assert (len(got), about[1]) == (expected, expected)
            marks = json.loads(about[0])["near"]
        assert len(sql.execute("SELECT * FROM jobs", binary=True).fetchall()) == len(TIMES) + 1


COUNTS = ("attempts", "errors", "deaths", "events_count", "max_attempts", "priority")


@pytest.mark.parametrize("outcome", ["retry", "fail", "release", "death", "snooze", "cancel", "rescue"])
def test_a_count_at_its_end_holds_up_nobody_else(database: Database, outcome: str) -> None:
    with reading(database) as sql:
        for column in COUNTS:
            sql.execute(f"INSERT INTO jobs (job_type, {column}) VALUES ('a', 2147483647)".encode())
        sql.execute("INSERT INTO jobs (job_type, attempts) VALUES ('a', -2147483648)")
        sql.execute("INSERT INTO jobs (job_type, data) VALUES ('a', %s)", (Jsonb({"plain": True}),))
        held = sql.execute("SELECT id, lease FROM claim_jobs('w', ARRAY['a'], 100)").fetchall()
        if outcome == "rescue":
            sql.execute("SELECT register_worker('w', '1 millisecond', '{}', '{}', '{}')")
            sql.execute("UPDATE workers SET heartbeat_at = '-infinity'")
            assert len(sql.execute("SELECT id FROM rescue_jobs()").fetchall()) == len(held)
            return
        ids, leases = [row[0] for row in held], [row[1] for row in held]
        done = sql.execute(
            "SELECT * FROM finish_jobs(%s::uuid[], %s::bigint[], %s::text[], '{}', '{}', '{}', '{}')",
            (ids, leases, [outcome] * len(ids)),
        ).fetchall()
        assert len(done) == len(held)
