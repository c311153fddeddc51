"""Orders by filter, and what tells about them: `--where`, why, audit, operations, stats, export, completion."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from tests.answers import Answer
from tests.cli.conftest import Shell

Sql = psycopg.Connection[Any]
Put = Callable[..., list[str]]


@pytest.fixture
def put(sql: Sql) -> Put:
    """Write jobs; their ids, newest first."""

    def write(count: int, status: str = "pending", **columns: Any) -> list[str]:
        values = {"job_type": "a", "worker_id": None if status == "pending" else "w", **columns, "status": status}
        names, places = ", ".join(values), ", ".join(f"%({name})s" for name in values)
        insert = f"INSERT INTO jobs ({names}) SELECT {places} FROM generate_series(1, %(count)s) RETURNING id::text"
        rows = sql.execute(insert.encode(), {**values, "count": count}).fetchall()
        return sorted((row[0] for row in rows), reverse=True)

    return write


def counted(sql: Sql, condition: str) -> int:
    row = sql.execute(f"SELECT count(*) FROM jobs WHERE {condition}".encode()).fetchone()
    assert row is not None
    return int(row[0])


def ids(answer: Answer) -> list[str]:
    return [line["id"] for line in answer.must_work().lines]


def test_ls_by_every_option(howdah: Shell, put: Put) -> None:
    failed = put(2, "failed", priority=50, last_error="it Timed out", data='{"user": {"id": 42}}', queue="media")
    then = "016f5e66-e800-7000-8000-000000000001"  # an id of that day
    done = put(1, "completed", worker_id="box-1", created_at="2020-01-01", id=then)
    for options, expected in [
        (["--where", "status=failed data.user.id=42"], failed),
        (["--where", "error~'timed out' created>2h", "--queue", "media"], failed),
        (["--error", "timed out"], failed),
        (["--priority", "50"], failed),
        (["--priority", ">=51"], done),
        (["--since", "1h"], failed),
        (["--until", "2021-01-01"], done),
        (["--worker", "box-1"], done),
        (["--where", f"id={done[0]},{failed[0]}"], [done[0], failed[0]]),
    ]:
        assert sorted(ids(howdah("ls", "--json", *options))) == sorted(expected), options
    howdah("ls", "--where", "flavour=sweet").must_be_refused("at 'flavour=sweet': there is no field 'flavour'")
    howdah("ls", "--where", "status=failed", "--status", "failed").must_be_refused("status is said twice")
    howdah("ls", "--type", "").must_be_refused("a type has 1 to 50 characters")
    howdah("ls", "--since", "soon").must_be_refused("'soon' is no time")


@pytest.mark.parametrize(
    ("command", "changed", "words"),
    [
        (["retry"], "status = 'pending'", "retry: 3 jobs"),
        (["delete"], "false", "delete: 3 jobs"),
    ],
)
def test_an_order_by_filter(howdah: Shell, sql: Sql, put: Put, command: list[str], changed: str, words: str) -> None:
    put(3, "failed", job_type="a")
    put(2, "failed", job_type="b")
    where = ["--where", "status=failed type=a"]
    dry = howdah(*command, *where, "--dry-run").must_work()
    assert dry.out == f"{words}; nothing was changed\n"
    assert howdah(*command, *where, "--dry-run", "--json").must_work().json == {
        "kind": command[0], "argument": None, "filter": "status=failed type=a", "jobs": 3, "exact": True,
        "estimate": None,
    }  # fmt: skip
    howdah(*command, *where).must_be_refused(f"{words} of status=failed type=a", "say --yes")
    assert counted(sql, "status = 'failed'") == 5
    done = howdah(*command, *where, "--yes").must_work()
    assert done.out == f"{words}\n"
    assert counted(sql, "status = 'failed'") == 2
    assert counted(sql, f"job_type = 'a' AND NOT ({changed})") == 0
    again = howdah(*command, *where, "--yes").must_work()
    assert again.out == f"{command[0]}: 0 jobs; nothing was changed\n"
    begun, ended = reversed(howdah("audit", "--json").must_work().lines)
    assert (begun["what"], begun["target"], begun["jobs"]) == (f"bulk {command[0]}", "status=failed type=a", 3)
    assert (ended["jobs"], ended["details"]["ended"]) == (3, "done")


def test_priority_move_and_cancel(howdah: Shell, sql: Sql, put: Put) -> None:
    first, second = put(2)
    (done,) = put(1, "completed")
    assert howdah("priority", 7, first).must_work().out == f"{first}  has priority 7\n"
    assert howdah("move", "emails", first, "--json").must_work().json == {
        "id": first, "answer": "pending", "changed": True,
    }  # fmt: skip
    assert counted(sql, "priority = 7 AND queue = 'emails'") == 1
    late = howdah("priority", 7, done)
    assert (late.code, late.out) == (1, f"{done}  had ended already, as completed\n")
    assert howdah("priority", "--where", "priority<=7", "--yes", "--", "-5").must_work().out == "priority -5: 1 job\n"
    assert howdah("move", "q", "--queue", "emails", "--yes").must_work().out == "move to queue q: 1 job\n"
    answer = howdah("cancel", "--status", "pending", "--yes", "--json").must_work().json
    assert (answer["state"], answer["done"], answer["percent"]) == ("done", 2, 100)
    assert howdah("delete", second).must_work().out == f"{second}  deleted\n"
    howdah("priority", 2**31, first).must_be_refused("priority 2147483648 is out of range")
    howdah("priority", "high", first).must_be_refused("'high' is not a valid integer")
    howdah("move", "", first).must_be_refused("1 to 50")
    howdah("cancel", first, "--where", "type=a").must_be_refused("not both")
    howdah("cancel", first, "--dry-run").must_be_refused("--dry-run goes with --where")
    howdah("cancel", "--yes").must_be_refused("name jobs by their ids, or choose them with --where")
    howdah("cancel", "--where", "", "--yes").must_be_refused("name jobs by their ids, or choose them with --where")


@pytest.mark.parametrize(("typed", "code", "left"), [("y\n", 0, 0), ("n\n", 130, 3)])
def test_at_a_terminal_it_asks(howdah: Shell, sql: Sql, put: Put, typed: str, code: int, left: int) -> None:
    put(3, "failed")
    mine, theirs = pty.openpty()
    os.write(mine, typed.encode())
    process = subprocess.Popen(
        howdah.command("retry", "--status", "failed"), stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, cwd=howdah.folder, env={**os.environ, **howdah.environment},
    )  # fmt: skip
    out, err = process.communicate(timeout=60)
    os.close(mine)
    os.close(theirs)
    assert process.returncode == code, (out, err)
    assert "retry: 3 jobs of status=failed [y/N]" in err
    assert counted(sql, "status = 'failed'") == left


def test_orders_are_put_on_record_with_who(howdah: Shell, put: Put) -> None:
    howdah.environment["LOGNAME"] = "ada"
    (job,) = put(1)
    howdah("cancel", job).must_work()
    howdah("pause", "emails").must_work()
    howdah("resume", "emails").must_work()
    lines = howdah("audit", "--json").must_work().lines
    assert [(line["what"], line["target"], line["jobs"]) for line in lines] == [
        ("resume", "queue emails", None),
        ("pause", "queue emails", None),
        ("cancel", job, 1),
    ]
    assert all(line["who"].startswith("ada@") for line in lines)
    assert [line["what"] for line in howdah("audit", "--json", "--target", job).must_work().lines] == ["cancel"]
    assert len(howdah("audit", "--limit", 2, "--json").must_work().lines) == 2
    assert [line["id"] for line in howdah("audit", "--json", "--before", lines[1]["id"]).must_work().lines] == [
        lines[2]["id"]
    ]
    assert howdah("audit", "--who", "nobody").must_work().err == "no entries\n"
    assert "queue emails" in howdah("audit").must_work().out


def test_operations(howdah: Shell, sql: Sql, put: Put) -> None:
    put(3, "failed")
    assert howdah("operations").must_work().err == "no operations\n"
    left = str(uuid4())
    sql.execute("SELECT begin_operation(%s, 'retry', 'status=failed', NULL, NULL, 'somebody', 3)", (left,))
    (line,) = howdah("operations", "--json", "--state", "running").must_work().lines
    assert (line["id"], line["state"], line["percent"], line["who"]) == (left, "running", 0, "somebody")
    assert "job_ids" not in line
    assert left in howdah("operations").must_work().out
    assert howdah("operations", "resume", left).must_work().out == "retry: 3 jobs\n"
    assert re.search(r"^done +3$", howdah("operations", "show", left).must_work().out, re.MULTILINE)
    ended = howdah("operations", "cancel", left)
    assert (ended.code, ended.out) == (1, "retry: 3 jobs\n")
    other = str(uuid4())
    sql.execute("SELECT begin_operation(%s, 'delete', 'status=failed', NULL, NULL, 'somebody', 3)", (other,))
    assert howdah("operations", "cancel", other).must_work().out == "delete: 0 jobs (cancelled)\n"
    again = howdah("operations", "resume", other)
    assert (again.code, again.out) == (1, "delete: 0 jobs (cancelled)\n")
    howdah("operations", "show", uuid4()).must_be_refused("No operation with that id; `howdah operations` lists them")
    howdah("operations", "show", "x").must_be_refused("'x' is not the id of an operation")


def test_why(howdah: Shell, put: Put, sql: Sql) -> None:
    (job,) = put(1)
    assert howdah("why", job).must_work().out == "pending: no worker is running\n"
    sql.execute("SELECT pause('queue', 'default')")
    assert howdah("why", job).must_work().out.splitlines() == [
        "pending: queue default is paused; `howdah resume default` lets it go on",
        "  and no worker is running",
    ]
    answer = howdah("why", job, "--json").must_work().json
    assert (answer["runs"], [reason["cause"] for reason in answer["reasons"]]) == (
        False,
        ["paused_queue", "no_worker"],
    )


def test_stats(howdah: Shell, put: Put, sql: Sql) -> None:
    put(2, created_at="2020-01-01")
    put(6, "completed", completed_at="now")
    sql.execute("SELECT register_worker('w', '1 hour', '{default}', '{a}', '{}')")
    out = howdah("stats").must_work().out
    assert re.search(r"^completed +6", out, re.MULTILINE)
    assert re.search(r"^oldest waiting +\d{4}d", out, re.MULTILINE)
    assert "live workers     1, holding 0 jobs" in out
    answer = howdah("stats", "--json").must_work().json
    assert answer["counts"]["pending"] == {"jobs": 2, "capped": False}
    assert answer["oldest_waiting"] > 86400 * 1000
    assert answer["last_minute"]["completed"] == 6
    assert answer["per_second"]["completed"] == 0.1


def test_export(howdah: Shell, put: Put) -> None:
    made = put(1203, "completed", data='{"n": 7}', result='{"ok": true}')
    put(5, "failed")
    lines = howdah("export", "--where", "status=completed").must_work().lines
    assert [line["id"] for line in lines] == made, "every one of them, once, newest first"
    assert (lines[0]["data"], lines[0]["result"], lines[0]["status"]) == ({"n": 7}, {"ok": True}, "completed")
    assert len(howdah("export", "--limit", 3).must_work().lines) == 3
    assert howdah("export", "--type", "none").must_work().out == ""


def test_export_takes_the_same_memory_for_any_number(howdah: Shell, put: Put) -> None:
    """What a hundred big jobs take, two thousand must not exceed by much."""
    program = (
        "import resource, sys\n"
        "from howdah.cli.main import exit_code\n"
        "sys.argv = ['howdah', 'export', '--limit', sys.argv[1]]\n"
        "code = exit_code()\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)\n"
    )
    put(3000, "completed", data=json.dumps({"text": "x" * 20_000}))

    def kilobytes(limit: int) -> int:
        done = subprocess.run(
            [sys.executable, "-c", program, str(limit)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **howdah.environment}, timeout=100,
        )  # fmt: skip
        return int(done.stderr.splitlines()[-1])

    assert kilobytes(3000) < kilobytes(600) + 15_000, "60 MB of jobs are not kept"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(nowhere: Shell, shell: str) -> None:
    assert "_HOWDAH_COMPLETE" in nowhere("completion", shell).must_work().out
    nowhere("completion", "csh").must_be_refused("'csh' is not one of")


def test_completion_completes(nowhere: Shell) -> None:
    nowhere.environment |= {
        "_HOWDAH_COMPLETE": "bash_complete", "COMP_WORDS": "howdah ls --status fa", "COMP_CWORD": "3",
    }  # fmt: skip
    assert nowhere(script=True).must_work().out == "plain,failed\n"
    nowhere.environment |= {"COMP_WORDS": "howdah oper", "COMP_CWORD": "1"}
    assert nowhere(script=True).must_work().out == "plain,operations\n"
