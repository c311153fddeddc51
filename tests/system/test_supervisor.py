"""Several worker processes under a supervisor: killed, signalled, replaced, left alone."""

from __future__ import annotations

import os
import pty
import re
import signal
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from howdah import Howdah, Job
from tests.conftest import Database
from tests.rig.processes import Ledger
from tests.rig.supervisors import SupervisorProcess
from tests.rig.waiting import until

Sql = psycopg.Connection[Any]
Start = Callable[..., SupervisorProcess]


@pytest.fixture
def supervise(database: Database, ledger: Ledger) -> Iterator[Start]:
    """Starts supervisors. Nobody counts as silent while a test runs: a job that comes back was given back."""
    started: list[SupervisorProcess] = []
    numbers = count(1)

    def start(*options: str, processes: int = 2, **how: Any) -> SupervisorProcess:
        environment = {"HOWDAH_URL": database.url, "LEDGER": str(ledger.path), **how.pop("environment", {})}
        log = ledger.path.with_name(f"supervisor-{next(numbers)}.log")
        options = ("--processes", str(processes), "--silence", "10m", "--grace", "20s", *options)
        started.append(SupervisorProcess(environment, *options, log=log, **how))
        return started[-1]

    yield start
    for supervisor in started:
        supervisor.kill()


def run(jobs: Howdah, ledger: Ledger, seconds: float) -> tuple[Job[Any], int]:
    """Enqueue a job that sleeps, and wait until it runs; where."""
    job = jobs.definition("slow").enqueue(seconds)
    return job, int(ledger.await_line("slow", str(job.id), "1")[3])


def counters(job: Job[Any]) -> tuple[str, int, int]:
    record = job.refresh().record
    return str(record.status), record.attempts, record.deaths


def signed_on(sql: Sql) -> int:
    row = sql.execute("SELECT count(*) FROM workers").fetchone()
    assert row is not None
    return int(row[0])


def test_a_killed_worker_is_replaced_and_its_jobs_do_not_wait_for_its_silence(
    jobs: Howdah, supervise: Start, ledger: Ledger
) -> None:
    supervisor = supervise("--concurrency", "4").ready()
    late = jobs.definition("late").enqueue(600)
    pid = ledger.await_line("late", str(late.id), "1")[3]
    others = jobs.definition("innocent").enqueue_many([{"n": n} for n in range(200)])
    until(lambda: any(line[2] == pid for line in ledger.lines() if line[0] == "innocent"), "both are at work")
    os.kill(int(pid), signal.SIGKILL)
    ledger.await_line("late", str(late.id), "2")
    ledger.path.with_name(ledger.path.name + ".go").touch()
    for job in [late, *others]:
        job.wait(60)
        assert job.status == "completed"
    assert counters(late) == ("completed", 2, 1)
    assert re.search(rf"worker was killed by SIGKILL; starting it again at once worker=\d pid={pid}", supervisor.log)
    supervisor.wait_for("worker started", times=3)
    assert supervisor.process.poll() is None
    supervisor.signal(signal.SIGTERM)
    assert supervisor.wait() == 0


def test_stopped_by_a_signal(jobs: Howdah, supervise: Start, ledger: Ledger, sql: Sql) -> None:
    supervisor = supervise("--grace", "300ms", "--name", "web", "--concurrency", "1").ready()
    names = sql.execute("SELECT split_part(id, ':', 1) FROM workers ORDER BY 1").fetchall()
    assert names == [("web.1",), ("web.2",)]
    running = [run(jobs, ledger, 600) for _ in range(2)]
    assert {pid for _, pid in running} == set(supervisor.pids())
    supervisor.signal(signal.SIGTERM)
    assert supervisor.wait() == 0
    assert supervisor.all_gone()
    assert [counters(job) for job, _ in running] == [("pending", 0, 0)] * 2
    assert signed_on(sql) == 0
    stopped = re.findall(r"worker stopped worker_id=web.(\d):\w+ held=0 worker=(\d)", supervisor.log)
    assert sorted(stopped) == [("1", "1"), ("2", "2")]


def test_a_second_signal_hurries_all(jobs: Howdah, supervise: Start, ledger: Ledger) -> None:
    supervisor = supervise("--grace", "10m").ready()
    job, _ = run(jobs, ledger, 600)
    supervisor.signal(signal.SIGTERM)
    supervisor.wait_for("waiting up to 600 s")
    supervisor.signal(signal.SIGINT)
    assert supervisor.wait() == 0
    assert counters(job) == ("pending", 0, 0)


def test_a_signal_to_the_whole_group_hurries_nobody(jobs: Howdah, supervise: Start, ledger: Ledger) -> None:
    """As systemd and inits of containers send it: each worker hears of it twice, in either order."""
    supervisor = supervise().ready()
    job, pid = run(jobs, ledger, 0.8)
    os.killpg(supervisor.process.pid, signal.SIGTERM)
    supervisor.wait_for("waiting up to 20 s")
    os.kill(pid, signal.SIGTERM)
    assert supervisor.wait() == 0
    assert counters(job) == ("completed", 1, 0)
    assert job.result == str(pid)
    assert supervisor.all_gone()


def test_in_a_terminal(jobs: Howdah, supervise: Start, ledger: Ledger) -> None:
    """Ctrl-C reaches everybody, and is one request; Ctrl-C again is the second."""
    keyboard, terminal = pty.openpty()
    supervisor = supervise(terminal=terminal).ready()
    quick, _ = run(jobs, ledger, 0.8)
    endless, _ = run(jobs, ledger, 600)
    os.write(keyboard, b"\x03")
    quick.wait(60)
    assert counters(quick) == ("completed", 1, 0)
    assert supervisor.process.poll() is None
    os.write(keyboard, b"\x03")
    assert supervisor.wait() == 0
    assert counters(endless) == ("pending", 0, 0)
    os.close(keyboard)
    os.close(terminal)


def test_a_terminal_that_is_closed_is_no_wish_for_fresh_workers(jobs: Howdah, supervise: Start, ledger: Ledger) -> None:
    keyboard, terminal = pty.openpty()
    supervisor = supervise(terminal=terminal).ready()
    os.close(terminal)
    job, _ = run(jobs, ledger, 0.5)
    os.close(keyboard)
    assert supervisor.wait() == 0
    assert "the terminal is gone: stopping" in supervisor.log
    assert counters(job) == ("completed", 1, 0)
    assert supervisor.all_gone()


def test_a_killed_supervisor_leaves_nobody_behind(jobs: Howdah, supervise: Start, ledger: Ledger, sql: Sql) -> None:
    supervisor = supervise("--grace", "1s").ready()
    short, _ = run(jobs, ledger, 0.5)
    endless, _ = run(jobs, ledger, 600)
    supervisor.process.kill()
    supervisor.wait()
    until(supervisor.all_gone, "all workers have ended")
    assert supervisor.log.count("the supervisor is gone: stopping") == 2
    assert counters(short) == ("completed", 1, 0)
    assert counters(endless) == ("pending", 0, 0)
    assert signed_on(sql) == 0


def test_fresh_workers_take_over_one_after_another(jobs: Howdah, supervise: Start, ledger: Ledger) -> None:
    supervisor = supervise().ready()
    before = supervisor.pids()
    job, pid = run(jobs, ledger, 0.8)
    supervisor.signal(signal.SIGHUP)
    supervisor.wait_for("all workers have been replaced")
    assert counters(job) == ("completed", 1, 0)
    assert job.result == str(pid)
    assert len(supervisor.pids()) == 4
    until(lambda: supervisor.pids()[:2] == before and not supervisor.all_gone(), "the fresh ones live")
    claiming = [1 if word == "started" else -1 for word in re.findall(r"worker (started|stopping) ", supervisor.log)]
    assert claiming == [1, 1, 1, -1, 1, -1], "one comes before one goes"
    assert int(jobs.definition("slow").enqueue(0).wait(60).result) in supervisor.pids()[2:]


GUARDED = """
import os
from howdah import Howdah

app = Howdah()
with open("starts", "a") as starts:
    starts.write(f"{os.getpid()}\\n")
if os.path.exists("broken"):
    exec(open("broken").read())


@app.job()
def add(a: int, b: int) -> int:
    return a + b
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An app that can be broken behind the supervisor's back."""
    (tmp_path / "guarded.py").write_text(GUARDED)
    return tmp_path


def starts(folder: Path) -> int:
    return len((folder / "starts").read_text().splitlines())


def break_for_workers(folder: Path, line: str) -> None:
    """It works when it is imported for the first time, by the supervisor, and for no worker."""
    (folder / "broken").write_text(f"if len(open('starts').readlines()) > 1: {line}\n")


def test_fresh_workers_that_cannot_start_replace_nobody(supervise: Start, folder: Path, app: Howdah) -> None:
    supervisor = supervise(app="guarded:app", folder=folder).ready()
    (folder / "broken").write_text("no such word")
    supervisor.signal(signal.SIGHUP)
    supervisor.wait_for("the new worker exited with code 2; the old one stays worker=1")
    supervisor.wait_for("the others are not replaced")
    assert starts(folder) == 4

    @app.job()
    def add(a: int, b: int) -> int:
        raise AssertionError("the worker has its own")

    assert add.enqueue(2, 3).wait(60).result == 5
    supervisor.signal(signal.SIGTERM)
    assert supervisor.wait() == 0


def test_stopped_while_a_fresh_one_is_on_its_way(supervise: Start, folder: Path) -> None:
    supervisor = supervise(app="guarded:app", folder=folder).ready()
    (folder / "broken").write_text("import time\ntime.sleep(600)")
    supervisor.signal(signal.SIGHUP)
    until(lambda: starts(folder) == 4, "the fresh one imports its app")
    supervisor.signal(signal.SIGTERM)
    assert supervisor.wait() == 0
    assert supervisor.all_gone()
    assert len(supervisor.pids()) == 3


def test_workers_that_have_left_but_do_not_end_may_be_killed(supervise: Start, folder: Path, sql: Sql) -> None:
    (folder / "broken").write_text(
        "import atexit, time\n"
        "if len(open('starts').readlines()) > 1:\n"
        "    atexit.register(lambda: (open('ends', 'a').write('.'), time.sleep(600)))\n"
    )
    supervisor = supervise(app="guarded:app", folder=folder).ready()
    supervisor.signal(signal.SIGTERM)
    ends = folder / "ends"
    until(lambda: ends.exists() and len(ends.read_text()) == 2, "both are on their way out")
    supervisor.signal(signal.SIGTERM)
    assert supervisor.wait() == 0
    assert supervisor.all_gone()
    assert signed_on(sql) == 0


def test_workers_that_keep_dying_are_started_ever_more_slowly(supervise: Start, folder: Path) -> None:
    break_for_workers(folder, "os._exit(7)")
    supervisor = supervise(app="guarded:app", folder=folder)
    announced = r"worker exited with code 7; starting it again (?:in ([0-9.]+) s|at once) worker=1"
    delays = supervisor.wait_for(announced, times=3)
    assert delays[0] == ""
    pauses = [float(delay) for delay in delays[1:]]
    assert 0.5 <= pauses[0] <= 1.0 <= pauses[1] <= 2.0
    assert "ready" not in supervisor.log
    # While it waits for the next start.
    supervisor.signal(signal.SIGTERM)
    assert supervisor.wait() == 0
    assert starts(folder) <= 1 + len(supervisor.pids())
    assert supervisor.all_gone()


def test_a_mistake_that_every_worker_meets_is_the_supervisors(supervise: Start, folder: Path) -> None:
    break_for_workers(folder, "1 / 0")
    supervisor = supervise(app="guarded:app", folder=folder)
    assert supervisor.wait() == 2
    assert "no worker can start: stopping" in supervisor.log
    assert supervisor.log.count("howdah: cannot import guarded: ZeroDivisionError") >= 2
    assert supervisor.all_gone()


def test_one_more_and_one_fewer(supervise: Start, sql: Sql) -> None:
    supervisor = supervise().ready()
    supervisor.signal(signal.SIGTTIN)
    until(lambda: signed_on(sql) == 3, "there is one more")
    supervisor.signal(signal.SIGTTOU)
    until(lambda: signed_on(sql) == 2, "there is one fewer")
    supervisor.signal(signal.SIGTTOU)
    until(lambda: signed_on(sql) == 1, "there is one fewer again")
    supervisor.signal(signal.SIGTTOU)
    supervisor.wait_for("one worker stays")
    assert signed_on(sql) == 1
    supervisor.signal(signal.SIGTERM)
    assert supervisor.wait() == 0
    assert supervisor.all_gone()
