"""`howdah worker` as a process: signals, a database that is not there yet, logs."""

from __future__ import annotations

import json
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.cli.conftest import Shell
from tests.conftest import Database
from tests.rig.servers import TEMPLATE, TestServer
from tests.rig.waiting import until

COUNTERS = "SELECT status, attempts, errors, deaths FROM jobs WHERE id = %s"
StatusOf = Callable[[str], str]


def enqueue(howdah: Shell, *arguments: str) -> str:
    return howdah("enqueue", "jobs:app", *arguments).must_work().out.strip()


def start(howdah: Shell, status_of: StatusOf, *arguments: str) -> str:
    """Enqueue and wait until a worker runs it."""
    job = enqueue(howdah, *arguments)
    until(lambda: status_of(job) == "running", "the job runs")
    return job


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_job_within_the_grace_time_finishes(
    howdah: Shell, sql: psycopg.Connection[Any], status_of: StatusOf, number: signal.Signals
) -> None:
    with howdah.worker("--name", "w1") as worker:
        job = start(howdah, status_of, "nap", '{"seconds": 2.5}')
        waiting = enqueue(howdah, "report", '{"day": "2030-01-31"}', "--delay", "1h")
        assert worker.signal_and_wait(number) == 0
    assert sql.execute(COUNTERS, (job,)).fetchone() == ("completed", 1, 0, 0)
    assert status_of(waiting) == "pending"
    assert sql.execute("SELECT id FROM workers").fetchall() == []
    assert f"{number.name}: stopping" in worker.log
    assert "worker stopped worker_id=w1" in worker.log


@pytest.mark.parametrize("handler", ["nap", "block", "stubborn"])
def test_a_job_beyond_the_grace_time_is_released_and_costs_nothing(
    howdah: Shell, sql: psycopg.Connection[Any], status_of: StatusOf, handler: str
) -> None:
    with howdah.worker("--grace", "300ms") as worker:
        job = start(howdah, status_of, handler, '{"seconds": 300}')
        assert worker.signal_and_wait(signal.SIGTERM) == 0
    assert sql.execute(COUNTERS, (job,)).fetchone() == ("pending", 0, 0, 0)
    assert sql.execute("SELECT count(*) FROM ready").fetchone() == (1,), "at once: it stands in the line again"


def test_a_second_signal_does_not_wait_for_the_grace_time(
    howdah: Shell, sql: psycopg.Connection[Any], status_of: StatusOf
) -> None:
    with howdah.worker("--grace", "10m") as worker:
        job = start(howdah, status_of, "nap", '{"seconds": 300}')
        worker.process.send_signal(signal.SIGTERM)
        worker.wait_for("SIGTERM: stopping; once more")
        assert worker.signal_and_wait(signal.SIGINT) == 0
    assert "SIGINT: stopping now" in worker.log
    assert sql.execute(COUNTERS, (job,)).fetchone() == ("pending", 0, 0, 0)


def test_started_before_the_database_exists(nowhere: Shell, server: TestServer) -> None:
    name = server.create_database()
    server.drop_database(name)
    nowhere.environment["HOWDAH_URL"] = server.embedded.url(name)
    try:
        with nowhere.worker() as worker:
            worker.wait_for("cannot start yet.*does not exist")
            with server.admin() as connection:
                connection.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}".encode())
            worker.wait_for("the database answers")
            done = nowhere("enqueue", "jobs:app", "report", '{"day": "2030-01-31"}', "--wait").must_work()
            assert '"Thursday"' in done.out
            assert worker.log.count("cannot start yet") == 1
            assert worker.signal_and_wait(signal.SIGTERM) == 0
    finally:
        server.drop_database(name)


@pytest.mark.parametrize("processes", [1, 2])
def test_signalled_while_nobody_answers(nowhere: Shell, processes: int) -> None:
    # A port that takes the connection and then says nothing: the attempt itself hangs.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        nowhere.environment["HOWDAH_URL"] = f"postgresql://x@127.0.0.1:{silent.getsockname()[1]}/x"
        with nowhere.worker("--processes", processes) as worker:
            caller, _ = silent.accept()
            began = time.monotonic()
            assert worker.signal_and_wait(signal.SIGTERM) == 0
            assert time.monotonic() - began < 5
            caller.close()


def test_no_rights_and_read_only_are_told_once_and_tried_again(
    nowhere: Shell, server: TestServer, database: Database
) -> None:
    role = f"weak_{database.name}"
    with database.connect() as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN".encode())
        connection.execute(f"ALTER DATABASE {database.name} SET default_transaction_read_only = on".encode())
    nowhere.environment["HOWDAH_URL"] = database.url.replace("postgresql://howdah@", f"postgresql://{role}@")
    with nowhere.worker() as worker:
        worker.wait_for("cannot start yet.*no rights")
        with server.admin() as connection:
            connection.execute(f"ALTER ROLE {role} SUPERUSER".encode())
        worker.wait_for("cannot start yet.*the server is read-only")
        with server.admin() as connection:
            connection.execute(f"ALTER DATABASE {database.name} RESET default_transaction_read_only".encode())
        worker.wait_for("worker started")
        assert worker.log.count("cannot start yet") == 2
        assert worker.signal_and_wait(signal.SIGTERM) == 0
    with server.admin() as connection:
        connection.execute(f"DROP ROLE {role}".encode())


def test_what_it_serves(howdah: Shell) -> None:
    options = ["--queue", "videos=3", "--queue", "odd=name=2", "--type", "encode", "--type", "nap", "--name", "me"]
    with howdah.worker(*options, "--silence", "1m", "--no-listen", "--no-maintenance", "--poll", "100ms") as worker:
        worker.wait_for("worker started worker_id=me:[0-9a-f]{8} queues=videos,odd=name job_types=encode,nap")
        [line] = howdah("workers", "--json").must_work().lines
        assert line["id"].startswith("me:")
        assert (line["silence"], line["alive"]) == (60.0, True)
        assert (line["queues"], line["job_types"]) == (["videos", "odd=name"], ["encode", "nap"])
        howdah("enqueue", "jobs:app", "encode", '{"video": 1}', "--wait").must_work()


def test_logs_are_json_and_hold_no_arguments(howdah: Shell, sql: psycopg.Connection[Any], status_of: StatusOf) -> None:
    unfit = sql.execute(
        """SELECT enqueue_job('encode', '{"video": "hunter2"}', p_queue => 'videos')::text"""
    ).fetchone()
    assert unfit is not None
    with howdah.worker("--log-format", "json", "-v") as worker:
        worker.wait_for("worker started")
        until(lambda: status_of(unfit[0]) == "failed", "the job failed")
        howdah("enqueue", "jobs:app", "encode", '{"video": 1, "preset": "hunter2"}', "--wait").must_work()
        assert worker.signal_and_wait(signal.SIGTERM) == 0
    entries = [json.loads(line) for line in worker.log.splitlines()]
    [started] = [entry for entry in entries if entry["message"] == "worker started"]
    assert {"level": "info", "logger": "howdah.worker", "queues": ["videos", "default"]}.items() <= started.items()
    assert started["worker_id"]
    assert "hunter2" not in worker.log


def test_the_installed_script_finds_modules_of_this_folder(howdah: Shell, folder: Path) -> None:
    (folder / "package").mkdir()
    (folder / "jobs.py").rename(folder / "package" / "work.py")
    made = howdah(
        "enqueue", "package.work:app", "nap", '{"seconds": 0}', "--url", howdah.environment["HOWDAH_URL"], script=True
    )
    assert made.must_work().out.strip()
