"""`howdah pause`, `resume`, `queues`, `workers`."""

from __future__ import annotations

from typing import Any

import psycopg

from tests.cli.conftest import Shell
from tests.rig.waiting import until


def test_pause_and_resume(howdah: Shell, sql: psycopg.Connection[Any]) -> None:
    assert (
        howdah("pause", "emails", "--type", "encode").must_work().out == "queue emails  paused\ntype encode  paused\n"
    )
    assert howdah("pause", "emails").must_work().out == "queue emails  was paused already\n"
    assert sql.execute("SELECT kind, name FROM pauses ORDER BY kind").fetchall() == [
        ("queue", "emails"),
        ("type", "encode"),
    ]
    assert howdah("resume", "emails", "--json").must_work().lines == [
        {"kind": "queue", "name": "emails", "paused": False, "changed": True}
    ]
    assert howdah("resume", "--type", "nonesuch").must_work().out == "type nonesuch  was not paused\n"
    assert sql.execute("SELECT name FROM pauses").fetchall() == [("encode",)]


def test_a_name_that_nobody_knows_is_paused_with_a_word(howdah: Shell, sql: psycopg.Connection[Any]) -> None:
    sql.execute("SELECT enqueue_job('encode', p_queue => 'emails')")
    assert howdah("pause", "emails", "--type", "encode").must_work().err == ""
    unknown = howdah("pause", "emials", "--type", "encod").must_work()
    assert unknown.out == "queue emials  paused\ntype encod  paused\n"
    assert unknown.err == (
        "howdah: no job or worker knows a queue 'emials' so far\nhowdah: no job or worker knows a type 'encod' so far\n"
    )
    assert howdah("resume", "emials").must_work().err == ""


def test_a_paused_queue_is_shown_though_nothing_was_ever_in_it(howdah: Shell) -> None:
    howdah("pause", "emials").must_work()
    assert howdah("queues").must_work().out.splitlines()[1].split() == ["emials", *"-00-0", "queue", "is", "paused"]


def test_nothing_there(howdah: Shell) -> None:
    for what in ("queues", "workers"):
        answer = howdah(what).must_work()
        assert (answer.out, answer.err) == ("", f"no {what}\n")
        assert howdah(what, "--json").must_work().out == ""


def test_nothing_named_or_named_badly(howdah: Shell) -> None:
    for command in ("pause", "resume"):
        howdah(command).must_be_refused("name a queue, or a job type with --type")
        howdah(command, "q" * 51).must_be_refused("51 characters")
        howdah(command, "--type", "").must_be_refused("job type")


def test_the_fleet_obeys(howdah: Shell) -> None:
    howdah("pause", "videos").must_work()
    with howdah.worker() as worker:
        worker.wait_for("worker started")
        held_up = howdah("enqueue", "jobs:app", "encode", '{"video": 0}').must_work().out.strip()
        howdah("enqueue", "jobs:app", "report", '{"day": "2030-01-31"}', "--wait").must_work()
        assert howdah("show", held_up, "--json").json["status"] == "pending"
        assert howdah("ls", "--status", "pending", "--json").lines[0]["note"] == "queue is paused"
        howdah("resume", "videos").must_work()
        until(lambda: howdah("show", held_up, "--json").json["status"] == "completed", "the job ran")


def test_queues_and_workers(howdah: Shell, sql: psycopg.Connection[Any]) -> None:
    sql.execute("SELECT enqueue_job('a', p_queue => 'emails') FROM generate_series(1, 3)")
    sql.execute("SELECT enqueue_job('b', p_run_at => now() + interval '1 hour')")
    sql.execute("SELECT register_worker('w', '1 hour', '{emails}', '{a}', '{\"host\": \"here\"}')")
    sql.execute("SELECT claim_job_batch('w', '{a}', 1)")
    sql.execute("SELECT pause('queue', 'emails')")
    lanes = {lane["queue"]: lane for lane in howdah("queues", "--json").must_work().lines}
    assert {"job_type": "a", "ready": 2, "scheduled": 0, "queue_paused": True, "live_workers": 1}.items() <= (
        lanes["emails"].items()
    )
    assert {"job_type": "b", "ready": 0, "scheduled": 1, "queue_paused": False, "live_workers": 0}.items() <= (
        lanes["default"].items()
    )
    table = howdah("queues").must_work().out
    assert "queue is paused" in table
    assert "no live worker serves this type" in table
    [worker] = howdah("workers", "--json").must_work().lines
    assert {"id": "w", "alive": True, "jobs": 1, "silence": 3600.0, "info": {"host": "here"}}.items() <= worker.items()
    sql.execute("UPDATE workers SET heartbeat_at = now() - interval '2 hours'")
    assert "silent" in howdah("workers").must_work().out
