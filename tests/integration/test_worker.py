"""What a worker does with jobs: every mode, every outcome, timeouts, cancellation, order, queues, time."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg

from howdah import ArgumentError, Backoff, Cancel, Fail, Howdah, Job, JobContext, LeaseLost, Retry, Snooze, Status
from tests.integration import process_jobs
from tests.rig.waiting import until, until_async
from tests.rig.working import working

Sql = psycopg.Connection[Any]
SOON = Backoff(base=timedelta(milliseconds=20))


async def test_async_thread_and_process_handlers(make_app: Callable[..., Howdah]) -> None:
    app = make_app()
    loop_thread = threading.get_ident()

    @app.job()
    async def on_loop(x: int) -> list[int]:
        return [x, threading.get_ident()]

    @app.job()
    def in_thread(x: int) -> list[int]:
        return [x, threading.get_ident()]

    app.include(process_jobs.app)
    async with working(app):
        first, second = await on_loop.aenqueue(1), await in_thread.aenqueue(2)
        third = await app.definition("in_child").aenqueue(3)
        for job in (first, second, third):
            await job.await_(60)
    assert first.result == [1, loop_thread]
    assert second.result[0] == 2
    assert second.result[1] != loop_thread
    assert third.result["doubled"] == 6
    assert third.result["pid"] != __import__("os").getpid()
    assert [event.data for event in await third.aevents()] == [{"half": True}]
    await app.aclose()


async def test_failing_then_succeeding_counts_errors_and_attempts(app: Howdah) -> None:
    @app.job(retry=SOON, max_attempts=5)
    async def flaky(ctx: JobContext) -> str:
        if ctx.attempt < 3:
            raise ValueError(f"attempt {ctx.attempt}")
        return "at last"

    async with working(app):
        job = await flaky.aenqueue()
        await job.await_(30)
        record = job.record
    assert (job.result, record.attempts, record.errors, record.deaths) == ("at last", 3, 2, 0)
    assert record.last_error is not None
    assert "ValueError: attempt 2" in record.last_error
    assert "Traceback" in record.last_error


async def test_a_job_out_of_attempts_fails(app: Howdah) -> None:
    @app.job(retry=SOON, max_attempts=2)
    def always() -> None:
        raise RuntimeError("no luck")

    async with working(app):
        job = await always.aenqueue()
        await job.await_(30)
        record = job.record
    assert (record.status, record.attempts, record.errors) == (Status.FAILED, 2, 2)


async def test_outcomes_that_a_handler_can_raise(app: Howdah) -> None:
    seen: list[tuple[str, int]] = []

    @app.job(max_attempts=3)
    async def speak(ctx: JobContext, how: str) -> str:
        seen.append((how, ctx.attempt))
        if len([s for s in seen if s[0] == how]) > 1:
            return "second time"
        match how:
            case "retry":
                raise Retry(after=timedelta(milliseconds=30))
            case "snooze":
                raise Snooze(timedelta(milliseconds=30))
            case "cancel":
                raise Cancel("not wanted")
            case _:
                raise Fail("hopeless")

    async with working(app):
        jobs = {how: await speak.aenqueue(how) for how in ("retry", "snooze", "cancel", "fail")}
        records = {how: (await job.await_(30)).record for how, job in jobs.items()}
    assert (records["retry"].status, records["retry"].attempts, records["retry"].errors) == ("completed", 2, 1)
    assert (records["snooze"].status, records["snooze"].attempts, records["snooze"].errors) == ("completed", 1, 0)
    assert (records["cancel"].status, records["cancel"].last_error) == ("cancelled", "not wanted")
    assert (records["fail"].status, records["fail"].attempts, records["fail"].last_error) == ("failed", 1, "hopeless")


async def test_a_retry_policy_of_the_callers_own(app: Howdah) -> None:
    asked: list[tuple[int, str]] = []

    def policy(errors: int, error: BaseException) -> timedelta | None:
        asked.append((errors, str(error)))
        return timedelta(milliseconds=10) if errors < 1 else None

    @app.job(retry=policy, max_attempts=10)
    async def fails() -> None:
        raise ValueError("x")

    def broken(errors: int, error: BaseException) -> timedelta | None:
        raise KeyError("policy")

    @app.job(retry=broken, max_attempts=1)
    async def fails_too() -> None:
        raise ValueError("y")

    async with working(app):
        job, other = await fails.aenqueue(), await fails_too.aenqueue()
        assert (await job.await_(30)).record.attempts == 2
        assert (await other.await_(30)).status == "failed"
    assert asked == [(0, "x"), (1, "x")]


async def test_timeouts_on_the_loop_in_a_thread_and_in_a_process(app: Howdah) -> None:
    release = threading.Event()
    told = threading.Event()

    @app.job(timeout=timedelta(milliseconds=100), max_attempts=1)
    async def slow() -> None:
        await asyncio.sleep(600)

    @app.job(timeout=timedelta(milliseconds=100), max_attempts=1)
    def stuck(ctx: JobContext) -> None:
        while not release.wait(0.01):
            if ctx.lost:
                told.set()

    @app.job()
    def quick() -> str:
        return "ran"

    app.include(process_jobs.app)
    async with working(app, concurrency=1):
        jobs = [await slow.aenqueue(), await app.definition("never_ends").aenqueue(), await stuck.aenqueue()]
        for job in jobs:
            await job.await_(60)
            assert job.status == "failed"
            assert "timed out after" in str(job.last_error)
        # The thread could not be stopped: it keeps the only slot until it returns.
        after = await quick.aenqueue()
        await asyncio.to_thread(told.wait, 30)
        assert (await after.arefresh()).status == "pending"
        release.set()
        await after.await_(30)
        assert after.result == "ran"


async def test_cancel_of_a_running_job_in_every_mode(app: Howdah) -> None:
    started = {"loop": threading.Event(), "thread": threading.Event()}

    @app.job()
    async def loops() -> None:
        started["loop"].set()
        await asyncio.sleep(600)

    @app.job()
    def threads(ctx: JobContext) -> None:
        started["thread"].set()
        while True:
            ctx.check()
            time.sleep(0.01)

    app.include(process_jobs.app)
    async with working(app):
        jobs = [await loops.aenqueue(), await threads.aenqueue(), await app.definition("sleeps").aenqueue()]
        for event in started.values():
            await asyncio.to_thread(event.wait, 30)
        await until_async(lambda: _is(jobs[2], "running"), "the child runs it")
        for job in jobs:
            assert await job.acancel() is True
        for job in jobs:
            await job.await_(30)
            assert (job.status, job.last_error) == ("cancelled", "cancelled on request")
            assert job.record.errors == 0
        assert await jobs[0].acancel() is True
        done = await app.definition("async_in_child").aenqueue(1)
        await done.await_(30)
        assert await done.acancel() is False


async def test_cancel_of_a_waiting_job(app: Howdah) -> None:
    @app.job()
    async def never() -> None: ...

    job = await never.using(delay=timedelta(hours=1)).aenqueue()
    assert await job.acancel() is True
    assert (await job.arefresh()).status == "cancelled"
    await app.aclose()


async def test_running_progress_stage_and_events_are_visible_while_it_runs(app: Howdah) -> None:
    go = asyncio.Event()

    @app.job()
    async def long(ctx: JobContext) -> None:
        ctx.progress(33.9, stage="middle")
        ctx.event("halfway", {"n": 1})
        await go.wait()
        ctx.progress(10, stage="later")
        ctx.event("end")

    async with working(app):
        job = await long.aenqueue()
        await until_async(lambda: _is(job, "running"), "running is written")
        await job.arefresh()
        assert (job.progress, job.current_stage, job.record.events_count) == (33, "middle", 1)
        assert job.record.started_at is not None
        go.set()
        await job.await_(30)
        assert (job.progress, job.current_stage, job.record.events_count) == (100, "later", 2)
        assert [(e.seq, e.name, e.data) for e in await job.aevents()] == [(1, "halfway", {"n": 1}), (2, "end", None)]
        assert [e.seq for e in await job.aevents(after=1)] == [2]


async def test_a_failed_job_keeps_the_progress_it_had_reached(app: Howdah) -> None:
    @app.job(max_attempts=1)
    async def breaks(ctx: JobContext) -> None:
        ctx.progress(60, "far")
        raise RuntimeError

    async with working(app):
        job = await breaks.aenqueue()
        await job.await_(30)
        assert (job.status, job.progress, job.current_stage) == ("failed", 60, "far")


async def test_short_jobs_cost_no_third_write(app: Howdah, sql: Sql) -> None:
    @app.job()
    async def short() -> None: ...

    jobs = [await short.aenqueue() for _ in range(20)]
    async with working(app):
        for job in jobs:
            await job.await_(30)
    sql.execute("SELECT pg_stat_force_next_flush()" if sql.info.server_version >= 150000 else "SELECT 1")
    until(
        lambda: sql.execute("SELECT count(*) FROM jobs WHERE status = 'completed'").fetchone() == (20,), "all completed"
    )
    # A version of the row for the insert, the claim and the completion; a pulse may catch one or two of twenty running.
    updates = until(lambda: _updates(sql) if _updates(sql) >= 40 else 0, "statistics are in")
    assert updates < 60
    assert sql.execute("SELECT count(*) FROM jobs WHERE started_at IS NULL").fetchone() == (0,)


def _updates(sql: Sql) -> int:
    row = sql.execute("SELECT sum(n_tup_upd)::int FROM pg_stat_user_tables WHERE relname LIKE 'jobs\\_%'").fetchone()
    assert row is not None
    return int(row[0])


async def test_data_that_no_longer_fits_fails_alone(app: Howdah, sql: Sql) -> None:
    @app.job()
    async def takes(n: int) -> int:
        return n

    good = await takes.aenqueue_many([{"n": n} for n in range(10)])
    # A time that Python cannot hold stands in the way of nobody.
    sql.execute("UPDATE jobs SET created_at = 'infinity' WHERE id = %s", (good[0].id,))
    sql.execute("UPDATE jobs SET created_at = '20000-01-01' WHERE id = %s", (good[1].id,))
    bad = []
    for data in ('{"n": "text"}', '{"m": 1}', "{}", "[1]", '{"n": 1, "extra": 2}', "null", f'{{"n": {"9" * 5000}}}'):
        row = sql.execute("INSERT INTO jobs (job_type, data) VALUES ('takes', %s) RETURNING id", (data,)).fetchone()
        assert row is not None
        bad.append(row[0])
    async with working(app):
        for job in good:
            assert (await job.await_(30)).status == "completed"
        for job_id in bad:
            job = await app.aget(job_id)
            await job.await_(30)
            assert job.status == "failed"
            assert "the arguments do not fit the handler" in str(job.last_error)
            assert job.attempts == 1


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("cannot be described")


class UnprintableOutcome(Fail):
    def __str__(self) -> str:
        raise RuntimeError("cannot be described")


async def test_results_and_errors_that_no_table_can_hold_still_end_the_job(app: Howdah) -> None:
    results: dict[str, Any] = {
        "nan": float("nan"),
        "object": object(),
        "nul": "a\0b",
        "surrogate": "\ud800",
        "huge": "x" * 300_000,
        "deep": [],
    }
    inner: list[Any] = results["deep"]
    for _ in range(100):
        inner.append([])
        inner = inner[0]
    errors: dict[str, Callable[[], BaseException]] = {
        "nul": lambda: ValueError("a\0b"),
        "surrogate": lambda: ValueError("\udcff"),
        "megabytes": lambda: ValueError("é" * 3_000_000),
        "unprintable": Unprintable,
        "exit": lambda: SystemExit(3),
        "interrupt": KeyboardInterrupt,
        "base": lambda: BaseException("base"),
        "lost, it says": LeaseLost,
        "arguments, of another job": lambda: ArgumentError("of something that the handler called"),
        "unprintable outcome": UnprintableOutcome,
    }

    @app.job(max_attempts=1)
    async def returns(what: str) -> Any:
        return results[what]

    @app.job(max_attempts=1)
    async def raises(what: str) -> None:
        raise errors[what]()

    @app.job(max_attempts=1)
    def raises_in_thread(what: str) -> None:
        raise errors[what]()

    async with working(app):
        ended = [await returns.aenqueue(what) for what in results]
        ended += [await raises.aenqueue(what) for what in errors]
        ended += [await raises_in_thread.aenqueue(what) for what in errors]
        for job in ended:
            await job.await_(30)
            assert job.status == "failed", job
            assert job.last_error
            assert len(job.last_error.encode()) < 20_000


async def test_a_plain_sql_retry_wakes_the_same_job_again(app: Howdah, sql: Sql) -> None:
    runs: list[int] = []

    @app.job()
    async def work(ctx: JobContext) -> None:
        runs.append(ctx.attempt)

    async with working(app):
        job = await work.aenqueue()
        await job.await_(30)
        sql.execute("UPDATE jobs SET status = 'pending' WHERE id = %s", (job.id,))
        await until_async(lambda: len(runs) == 2, "it ran again")
        await until_async(lambda: _is(job, "completed"), "completed again")
    assert runs == [1, 2]


async def _is(job: Job[Any], status: str) -> bool:
    return (await job.arefresh()).status == status


async def test_a_child_that_dies_is_charged_as_a_death_and_the_worker_lives(app: Howdah) -> None:
    app.include(process_jobs.app)

    @app.job()
    async def innocent() -> str:
        return "alive"

    async with working(app):
        job = await app.definition("dies").aenqueue()
        record = (await job.await_(60)).record
        assert (record.status, record.deaths, record.attempts, record.errors) == ("failed", 3, 3, 0)
        assert str(record.last_error).startswith("poison: the child process running this job was killed by SIGKILL")
        good, bad = (
            await app.definition("async_in_child").aenqueue(1),
            await app.definition("async_in_child").aenqueue(-1),
        )
        assert (await good.await_(30)).result == 2
        assert "ValueError: negative" in str((await bad.await_(30)).last_error)
        assert (await (await innocent.aenqueue()).await_(30)).result == "alive"


async def test_retry_without_a_time_asks_the_policy_which_may_give_up(app: Howdah) -> None:
    @app.job(retry=lambda errors, error: None, max_attempts=5)
    async def gives_up() -> None:
        raise Retry("again, if the policy thinks so")

    async with working(app):
        job = await gives_up.aenqueue()
        record = (await job.await_(30)).record
    assert (record.status, record.attempts, record.last_error) == ("failed", 1, "again, if the policy thinks so")
