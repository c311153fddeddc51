from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest

from tests.cli.conftest import UUID_PATTERN, Shell
from tests.conftest import Database


def read(sql: psycopg.Connection[Any], columns: str) -> tuple[Any, ...]:
    row: tuple[Any, ...] | None = sql.execute(f"SELECT {columns} FROM jobs".encode()).fetchone()
    assert row is not None
    return row


def count(sql: psycopg.Connection[Any]) -> int:
    return int(read(sql, "count(*)")[0])


def test_the_definition_says_what_the_options_do_not(howdah: Shell, sql: psycopg.Connection[Any]) -> None:
    printed = howdah("enqueue", "jobs:app", "encode", '{"video": 42}', script=True).must_work().out
    assert re.fullmatch(UUID_PATTERN, printed.strip())
    columns = "id::text, job_type, data, priority, queue, run_at, max_attempts"
    assert read(sql, columns) == (printed.strip(), "encode", {"video": 42}, 100, "videos", None, 5)


def test_options(howdah: Shell, sql: psycopg.Connection[Any]) -> None:
    options = ["--priority", "-7", "--queue", "slow lane", "--delay", "1h30m", "--max-attempts", "9"]
    made = howdah("enqueue", "jobs:app", "broken", *options, "--json").must_work().json
    assert read(
        sql, "id::text, job_type, priority, queue, max_attempts, run_at - created_at > interval '89 minutes'"
    ) == (
        made["id"],
        made["job_type"],
        -7,
        "slow lane",
        9,
        True,
    )
    sql.execute("DELETE FROM jobs")
    howdah("enqueue", "jobs:app", "broken", "--run-at", "2090-01-31T12:00:00+02:00").must_work()
    assert read(sql, "run_at AT TIME ZONE 'UTC' = '2090-01-31 10:00'") == (True,)


def test_json_becomes_what_the_handler_declares(howdah: Shell, sql: psycopg.Connection[Any]) -> None:
    howdah("enqueue", "jobs:app", "report", '{"day": "2030-01-31"}').must_work()
    assert read(sql, "data") == ({"day": "2030-01-31"},)


def test_arguments_from_stdin(howdah: Shell, sql: psycopg.Connection[Any]) -> None:
    too_large = '{"video": 1, "preset": "' + "x" * 300_000 + '"}'
    howdah("enqueue", "jobs:app", "encode", "-", stdin=too_large).must_be_refused("262,144")
    howdah("enqueue", "jobs:app", "encode", "-", stdin='{"video": 8}').must_work()
    assert read(sql, "data") == ({"video": 8},)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["encode", '{"vidoe": 1}'], ["takes no argument 'vidoe'", "did you mean 'video'?"]),
        (["encode"], ["missing argument 'video'"]),
        (["encode", '{"video": "x"}'], ["video", "int"]),
        (["encode", '{"video": NaN}'], ["NaN"]),
        (["encode", '{"video": 1'], ["no JSON"]),
        (["encode", "[" * 100_000], ["no JSON"]),
        (["encode", "[1]"], ["no object"]),
        (["report", '{"day": "tomorrow"}'], ["day"]),
        (["nonesuch"], ["no job type 'nonesuch'", "encode"]),
        (["broken", "--priority", "3000000000"], ["priority", "2147483647"]),
        (["broken", "--priority", "high"], ["--priority", "high"]),
        (["broken", "--queue", "q" * 51], ["queue", "51"]),
        (["broken", "--queue", ""], ["queue"]),
        (["broken", "--max-attempts", "0"], ["max_attempts"]),
        (["broken", "--delay", "soon"], ["'soon' is no duration"]),
        (["broken", "--delay", "40000d"], ["too long"]),
        (["broken", "--delay", "1m", "--run-at", "2090-01-31T12:00Z"], ["not both"]),
        (["broken", "--run-at", "2090-01-31"], ["no timezone"]),
        (["broken", "--run-at", "noon"], ["is no time"]),
        (["broken", "--run-at", "2001-01-31T12:00Z"], ["in the past"]),
        (["broken", "--timeout", "3s"], ["--timeout goes with --wait"]),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, list) else None,
)
def test_mistakes_write_nothing(
    howdah: Shell, sql: psycopg.Connection[Any], arguments: list[str], words: list[str]
) -> None:
    howdah("enqueue", "jobs:app", *arguments).must_be_refused(*words)
    assert count(sql) == 0


def test_wait(howdah: Shell, database: Database) -> None:
    with howdah.worker() as worker:
        worker.wait_for("worker started")
        done = howdah("enqueue", "jobs:app", "encode", '{"video": 2}', "--wait").must_work()
        assert done.out.splitlines()[1] == '{"url": "2/hd"}'
        told = howdah("enqueue", "jobs:app", "report", '{"day": "2030-01-31"}', "--wait", "--json").must_work().json
        assert (told["status"], told["result"], told["last_error"]) == ("completed", "Thursday", None)
        failed = howdah("enqueue", "jobs:app", "broken", "--wait", "--timeout", "60")
        assert failed.code == 1
        assert failed.err == "howdah: the job ended as failed: it is broken\n"
        as_json = howdah("enqueue", "jobs:app", "broken", "--wait", "--json")
        assert (as_json.code, as_json.json["status"], as_json.json["last_error"]) == (1, "failed", "it is broken")


def test_wait_says_once_that_nobody_is_there(howdah: Shell) -> None:
    late = howdah("enqueue", "jobs:app", "broken", "--wait", "--timeout", "3s")
    assert late.code == 1
    nobody, gave_up = late.err.splitlines()
    assert nobody == "howdah: no live worker serves 'broken'; start one with: howdah worker jobs:app"
    assert "did not finish within 3.0 s" in gave_up


def test_wait_names_the_queue_that_nobody_serves(howdah: Shell, sql: psycopg.Connection[Any]) -> None:
    sql.execute("SELECT register_worker('w', '1 hour', '{default}', '{broken}', '{}')")
    served = howdah("enqueue", "jobs:app", "broken", "--wait", "--timeout", "2.2s")
    assert "no live worker" not in served.err
    other = howdah("enqueue", "jobs:app", "broken", "--wait", "--timeout", "2.2s", "--queue", "slow lane")
    assert "no live worker serves 'broken' in queue 'slow lane'" in other.err
    assert "start one with: howdah worker jobs:app --queue 'slow lane'\n" in other.err


def test_wait_no_longer_than_told(howdah: Shell) -> None:
    late = howdah("enqueue", "jobs:app", "broken", "--wait", "--timeout", "300ms")
    assert late.code == 1
    assert late.out.strip() in late.err
    assert "did not finish within 0.3 s" in late.err
