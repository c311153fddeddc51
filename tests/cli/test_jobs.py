"""`howdah ls`, `show`, `cancel`, `retry`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from howdah.admin.views import StatusCount
from howdah.cli.listing import count_line
from howdah.model.status import Status
from tests.answers import Answer
from tests.cli.conftest import Shell

INSERT = """
INSERT INTO jobs (job_type, queue, status, worker_id, attempts, last_error, completed_at, progress, current_stage)
VALUES (%(job_type)s, %(queue)s, %(status)s, %(worker_id)s, %(attempts)s, %(last_error)s, now(), 40, %(stage)s)
RETURNING id
"""
Put = Callable[..., str]


@pytest.fixture
def put(sql: psycopg.Connection[Any]) -> Put:
    """Write a job by plain SQL."""

    def write(job_type: str, status: str = "pending", **columns: object) -> str:
        given = {"queue": "default", "worker_id": None, "attempts": 0, "last_error": None, "stage": None, **columns}
        row = sql.execute(INSERT, {"job_type": job_type, "status": status, **given}).fetchone()
        assert row is not None
        return str(row[0])

    return write


def ids(answer: Answer) -> list[str]:
    return [line["id"] for line in answer.must_work().lines]


def test_newest_first_page_by_page(howdah: Shell, put: Put) -> None:
    made = [put("a", "completed") for _ in range(5)][::-1]
    assert ids(howdah("ls", "--json")) == made
    assert ids(howdah("ls", "--json", "--limit", 2)) == made[:2]
    assert ids(howdah("ls", "--json", "--limit", 2, "--before", made[1])) == made[2:4]


def test_filters(howdah: Shell, put: Put) -> None:
    pending, other = put("a"), put("b", queue="emails")
    failed = put("a", "failed", worker_id="w1", last_error="Traceback\n  ...\nValueError: seven\n")
    running = put("b", "running", worker_id="w2", stage="encoding")
    claimed = put("a", "claimed", worker_id="w1")
    assert ids(howdah("ls", "--json", "--status", "pending")) == [other, pending]
    assert ids(howdah("ls", "--json", "--status", "failed")) == [failed]
    assert ids(howdah("ls", "--json", "--status", "running", "--status", "claimed")) == [claimed, running]
    assert ids(howdah("ls", "--json", "--status", "pending", "--status", "failed")) == [failed, other, pending]
    assert ids(howdah("ls", "--json", "--type", "a")) == [claimed, failed, pending]
    assert ids(howdah("ls", "--json", "--queue", "emails")) == [other]
    assert ids(howdah("ls", "--json", "--worker", "w1")) == [claimed, failed]
    assert ids(howdah("ls", "--json", "--worker", "w1", "--status", "running", "--status", "claimed")) == [claimed]
    table = howdah("ls").must_work().out
    for word in ("ID  ", "ValueError: seven", "encoding", "40%", "no worker is running"):
        assert word in table
    assert "Traceback" not in table
    assert "\x1b" not in table, "no colours in a pipe"
    none = howdah("ls", "--status", "cancelled").must_work()
    assert (none.out, none.err) == ("", "no jobs\n")


def test_pending_jobs_say_why(howdah: Shell, sql: psycopg.Connection[Any], put: Put) -> None:
    for job_type in ("known", "unknown", "late", "stopped", "spent"):
        put(job_type, attempts=3 if job_type == "spent" else 0)
    sql.execute("UPDATE jobs SET run_at = now() + interval '2 hours' WHERE job_type = 'late'")
    sql.execute("SELECT register_worker('w', '1 hour', '{default}', '{known,late,stopped,spent}', '{}')")
    sql.execute("SELECT register_worker('dead', '1 second', '{default}', '{unknown}', '{}')")
    sql.execute("UPDATE workers SET heartbeat_at = now() - interval '1 minute' WHERE id = 'dead'")
    sql.execute("SELECT pause('type', 'stopped')")
    notes = {line["job_type"]: line["note"] for line in howdah("ls", "--json").must_work().lines}
    assert notes.pop("late").startswith("due in 1h59m")
    assert notes.pop("spent").startswith("has no attempts left")
    assert notes == {"known": None, "unknown": "no live worker knows this type", "stopped": "type is paused"}


def test_texts_from_the_database_play_no_tricks(howdah: Shell, put: Put) -> None:
    job = put("evil\x1b[2J\nname", "running", worker_id="w", stage="\x07bell")
    for command in (["ls"], ["show", job]):
        out = howdah(*command).must_work().out
        assert "\x1b" not in out
        assert "\x07" not in out
    assert len(howdah("ls").out.splitlines()) == 2


def test_counts(howdah: Shell, put: Put) -> None:
    for status in ("pending", "pending", "running", "claimed", "failed"):
        put("a", status)
    assert {line["status"]: line["jobs"] for line in howdah("ls", "--counts", "--json").must_work().lines} == {
        "pending": 2,
        "claimed": 1,
        "running": 1,
        "completed": 0,
        "failed": 1,
        "cancelled": 0,
    }
    assert howdah("ls", "--counts").must_work().out.splitlines()[0].split() == ["pending", "2"]
    howdah("ls", "--counts", "--type", "a").must_be_refused("--counts takes no filter")


@pytest.mark.parametrize(
    ("count", "line"),
    [
        (StatusCount(Status.FAILED, 0, False), "failed          0"),
        (StatusCount(Status.FAILED, 0, True), "failed          0  among the newest 100,000; older ones not counted"),
        (StatusCount(Status.PENDING, 10_000, True), "pending    10000+"),
    ],
)
def test_a_count_says_what_it_leaves_out(count: StatusCount, line: str) -> None:
    assert count_line(count) == line


def test_show_a_text_of_several_lines_and_times(howdah: Shell, put: Put) -> None:
    howdah.environment["TZ"] = "Asia/Kolkata"
    out = howdah("show", put("a", "failed", last_error="Traceback:\n  here\n\nValueError: 7\n")).must_work().out
    assert re.search(r"^last_error\n    Traceback:\n      here\n\n    ValueError: 7\n\w", out, re.MULTILINE), out
    assert re.search(r"^created_at +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+05:30$", out, re.MULTILINE), out


def test_show_has_everything_and_the_last_events(howdah: Shell) -> None:
    with howdah.worker() as worker:
        worker.wait_for("worker started")
        made = howdah("enqueue", "jobs:app", "encode", '{"video": 23}', "--wait", "--json").must_work().json["id"]
    shown = howdah("show", made, "--json").must_work().json
    assert {
        "id": made,
        "status": "completed",
        "data": {"video": 23},
        "result": {"url": "23/hd"},
    }.items() <= shown.items()
    assert [event["data"] for event in shown["events"]] == [{"part": part} for part in range(3, 23)]
    text = howdah("show", made).must_work().out
    for words in ("job_type             encode", 'data                 {"video": 23}', "last 20 of 23", "part-done"):
        assert words in text


def test_cancel(howdah: Shell, put: Put, status_of: Callable[[str], str]) -> None:
    waiting, running, done = put("a"), put("a", "running", worker_id="w"), put("a", "completed")
    answer = howdah("cancel", waiting, running, done)
    assert answer.code == 1
    assert [line.split(maxsplit=1)[1] for line in answer.out.splitlines()] == [
        "cancelled",
        "asked its worker to stop",
        "had completed already",
    ]
    assert (status_of(waiting), status_of(done)) == ("cancelled", "completed")
    assert howdah("show", running, "--json").json["cancel_requested_at"] is not None
    assert howdah("cancel", waiting, "--json").must_work().lines == [
        {"id": waiting, "answer": "cancelled", "changed": False}
    ]


def test_retry(howdah: Shell, put: Put, status_of: Callable[[str], str]) -> None:
    failed, running = put("a", "failed", attempts=3), put("a", "running", worker_id="w")
    assert howdah("retry", failed).must_work().out == f"{failed}  runs again\n"
    assert status_of(failed) == "pending"
    busy = howdah("retry", running, failed, "--json")
    assert busy.code == 2
    assert "is running: cancel it first" in busy.err
    assert busy.lines == [
        {"id": running, "answer": "running", "changed": False},
        {"id": failed, "answer": "pending", "changed": True},
    ]


@pytest.mark.parametrize("command", ["show", "cancel", "retry", "delete", "why"])
def test_ids_that_are_none_or_nobodys(howdah: Shell, command: str) -> None:
    howdah(command, "twelve").must_be_refused("'twelve' is not a job id")
    stranger: UUID = uuid4()
    howdah(command, stranger).must_be_refused(str(stranger), "past its retention")
    howdah(command).must_be_refused(
        "Missing argument" if command in ("show", "why") else "name jobs by their ids, or choose"
    )


def test_one_bad_id_keeps_all_from_being_touched(howdah: Shell, put: Put, status_of: Callable[[str], str]) -> None:
    job = put("a")
    howdah("cancel", job, "twelve").must_be_refused("twelve")
    assert status_of(job) == "pending"
