"""Workers that die, stop and come back; handlers that block; jobs that kill."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from howdah import Howdah
from tests.rig.processes import Ledger, WorkerProcess
from tests.rig.waiting import until

Sql = psycopg.Connection[Any]
Start = Callable[..., WorkerProcess]
ZOMBIES = 200


def test_the_job_of_a_killed_worker_is_finished_by_another(jobs: Howdah, start_worker: Start, ledger: Ledger) -> None:
    first = start_worker()
    job = jobs.definition("slow").enqueue(1.0)
    ledger.await_line("slow", str(job.id), "1")
    first.kill()
    second = start_worker()
    job.wait(60)
    assert job.result == str(second.pid)
    assert (job.record.attempts, job.record.deaths, job.record.errors) == (2, 1, 0)
    assert "died or lost its connection" in str(job.last_error)


def test_a_job_whose_worker_died_on_its_last_attempt_fails_with_a_reason(
    jobs: Howdah, start_worker: Start, ledger: Ledger
) -> None:
    first = start_worker()
    job = jobs.definition("slow").using(max_attempts=1).enqueue(600)
    ledger.await_line("slow", str(job.id), "1")
    first.kill()
    start_worker()
    job.wait(60)
    assert job.status == "failed"
    assert "on its last attempt (1 of 1)" in str(job.last_error)


def test_handlers_that_block_for_three_lease_times_are_not_rescued(
    jobs: Howdah, start_worker: Start, ledger: Ledger
) -> None:
    silence = 2
    start_worker(silence=silence)
    start_worker(silence=silence, job_types=["quick"])
    blocked = [jobs.definition("blocks_its_thread").enqueue(3.0 * silence)]
    ledger.await_line("blocks", "1")
    blocked.append(jobs.definition("blocks_the_loop").enqueue(3.0 * silence))
    for job in blocked:
        job.wait(60)
        assert (job.result, job.record.attempts, job.record.deaths) == (1, 1, 0)
    assert ledger.count("blocks") == 2


def test_poison_among_a_hundred_innocents(jobs: Howdah, start_worker: Start, ledger: Ledger, sql: Sql) -> None:
    """It is run exactly three times; every innocent completes, and is charged no death that it did not share."""
    first_half = jobs.definition("innocent").enqueue_many([{"n": n} for n in range(50)])
    poison = jobs.definition("poison").enqueue()
    second_half = jobs.definition("innocent").enqueue_many([{"n": n} for n in range(50, 100)])
    workers = [start_worker(silence=1.5, concurrency=110)]

    def finished() -> bool:
        # Whoever runs a fleet restarts what has died.
        if workers[-1].process.poll() is not None:
            workers.append(start_worker(silence=1.5, concurrency=110))
        return sql.execute("SELECT count(*) FROM jobs WHERE status NOT IN ('completed', 'failed')").fetchone() == (0,)

    until(finished, "everything has ended", seconds=100)
    assert ledger.count("poison") == 3
    record = poison.refresh().record
    assert (record.status, record.deaths) == ("failed", 3)
    assert str(record.last_error).startswith("poison: worker ")
    deadly = {line[1] for line in ledger.lines() if line[0] == "poison"}
    for job in first_half + second_half:
        record = job.refresh().record
        assert (record.status, record.errors) == ("completed", 0)
        started_in = {line[2] for line in ledger.lines() if line[:2] == ["innocent", str(record.data["n"])]}
        # The first death is charged to all that the worker held; from then on only to what had been started.
        assert record.deaths <= 1 + len(started_in & deadly)
        assert record.deaths < 3


def test_a_stopped_worker_that_comes_back_is_refused(
    jobs: Howdah, start_worker: Start, ledger: Ledger, sql: Sql
) -> None:
    """SIGSTOP past the lease, the job running elsewhere, SIGCONT: the late ack, progress and event change nothing."""
    late = jobs.definition("late").enqueue_many([{"seconds": 2.0}] * ZOMBIES)
    zombie = start_worker(silence=2, concurrency=ZOMBIES)
    until(lambda: ledger.count("late") == ZOMBIES, "the first worker runs all of them")
    zombie.signal(signal.SIGSTOP)
    start_worker(silence=2, concurrency=ZOMBIES)
    until(lambda: ledger.count("late") == 2 * ZOMBIES, "the second worker runs all of them")
    leases = dict(sql.execute("SELECT id, lease FROM jobs").fetchall())
    zombie.signal(signal.SIGCONT)
    until(lambda: ledger.count("late-done") == ZOMBIES, "the zombie has finished all of them, too late")
    states = sql.execute("SELECT status, count(*) FROM jobs GROUP BY 1").fetchall()
    assert states == [("running", ZOMBIES)], "a late write was accepted"
    ledger.path.with_name(ledger.path.name + ".go").touch()
    for job in late:
        job.wait(60)
        assert job.result == "attempt 2"
        assert (job.record.attempts, job.record.deaths) == (2, 1)
        assert (job.record.current_stage, job.events()) == (None, [])
        assert job.record.lease == leases[job.id]
    assert zombie.process.poll() is None
    # It has signed on again, with its own promises: a bare heartbeat would have left it with the defaults.
    query = "SELECT count(*) FROM workers WHERE marks_starts AND silence = '2 seconds'"
    until(lambda: sql.execute(query).fetchone() == (2,), "the zombie is registered again")
    zombie.stop()
    told = zombie.log.read_text()
    assert told.count("lost to another claim") + told.count("was refused") == ZOMBIES


def test_a_worker_that_was_away_starts_nothing_that_it_may_have_lost(
    jobs: Howdah, start_worker: Start, ledger: Ledger, sql: Sql
) -> None:
    """Stopped in the midst of a flood: what waited in it has long been run by another when it comes back."""
    flood = jobs.definition("innocent").enqueue_many([{"n": n} for n in range(300)])
    away = start_worker(silence=1.5, concurrency=2)
    mine = str(away.pid)

    def started() -> int:
        return sum(1 for line in ledger.lines() if line[0] == "innocent" and line[2] == mine)

    until(lambda: started() > 20, "it runs one after the other")
    away.signal(signal.SIGSTOP)
    before = started()
    waiting = "SELECT count(*) FROM jobs WHERE status = 'claimed' AND worker_id LIKE %s"
    held = sql.execute(waiting, [f"%:{mine}:%"]).fetchone()
    assert held is not None
    assert held[0] > 2, "nothing waits in it"
    start_worker(silence=1.5)
    for job in flood:
        job.wait(60)
    resumed = sql.execute("SELECT clock_timestamp()").fetchone()
    away.signal(signal.SIGCONT)
    heard = "SELECT count(*) FROM workers WHERE heartbeat_at > %s AND id LIKE %s"
    until(lambda: sql.execute(heard, [*(resumed or ()), f"%:{mine}:%"]).fetchone() == (1,), "it is heard again")
    jobs.definition("quick").enqueue(99).wait(60)
    assert started() == before


@pytest.mark.parametrize("waiting", [0, 30])
def test_sigterm_beyond_the_grace_time_releases_at_once_and_costs_nothing(
    jobs: Howdah, start_worker: Start, ledger: Ledger, waiting: int
) -> None:
    worker = start_worker(grace=0.2, concurrency=5, silence=30)
    job = jobs.definition("slow").enqueue(600)
    behind = jobs.definition("slow").enqueue_many([{"seconds": 600}] * waiting)
    ledger.await_line("slow", str(job.id), "1")
    assert worker.stop() == 0
    for each in [job, *behind]:
        record = each.refresh().record
        assert (record.status, record.attempts, record.errors, record.deaths) == ("pending", 0, 0, 0)
        assert (record.worker_id, record.run_at) == (None, None)
    assert ledger.count("interrupted", str(job.id), "1") == 1


def test_sigterm_lets_running_jobs_finish(jobs: Howdah, start_worker: Start, ledger: Ledger, sql: Sql) -> None:
    worker = start_worker(grace=20)
    job = jobs.definition("slow").enqueue(0.7)
    ledger.await_line("slow", str(job.id), "1")
    assert worker.stop() == 0
    assert job.refresh().status == "completed"
    assert sql.execute("SELECT (SELECT count(*) FROM workers), (SELECT count(*) FROM claims)").fetchone() == (0, 0)


def test_a_second_signal_does_not_wait(jobs: Howdah, start_worker: Start, ledger: Ledger) -> None:
    worker = start_worker(grace=600)
    job = jobs.definition("slow").enqueue(600)
    ledger.await_line("slow", str(job.id), "1")
    worker.signal(signal.SIGTERM)
    until(lambda: "worker stopping" in worker.log.read_text(), "the first signal has arrived")
    worker.signal(signal.SIGTERM)
    assert worker.process.wait(30) == 0
    assert (job.refresh().status, job.record.attempts) == ("pending", 0)
