"""What a worker counts, in its memory and in the database."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from howdah import Cancel, Fail, Howdah, JobContext, Retry, Snooze, Worker
from howdah.admin.history import reading
from howdah.admin.history.views import By
from howdah.db.catalog import Catalog
from howdah.db.link import Link, Outage
from howdah.maintenance.chores import Chores
from howdah.telemetry.tally import MOST_SERIES, NAMELESS, Series, Tally
from howdah.worker import pulse, store
from tests.conftest import Database
from tests.rig.waiting import until_async
from tests.rig.working import working

Sql = psycopg.Connection[Any]
HOUR = timedelta(hours=1)


def counts(worker: Worker, job_type: str, queue: str = "default") -> Series:
    return worker._tally.copy().get((job_type, queue), Series())


async def test_every_outcome_is_counted_once_in_memory_and_in_the_database(app: Howdah, sql: Sql) -> None:
    @app.job(queue="q")
    async def ends(ctx: JobContext, how: str) -> None:
        if how == "fail":
            raise Fail("no")
        if how == "cancel":
            raise Cancel("no")
        if ctx.attempt == 1 and how == "retry":
            raise Retry(after=timedelta(0))
        if how == "snooze" and not asleep:
            asleep.append(True)
            raise Snooze(timedelta(milliseconds=10))

    @app.job(max_attempts=1)
    def in_thread() -> int:
        return 1

    asleep: list[bool] = []
    hows = ["complete"] * 20 + ["fail"] * 3 + ["cancel", "retry", "snooze"]
    async with working(app) as worker:
        jobs = await ends.aenqueue_many([{"how": how} for how in hows])
        jobs += await in_thread.aenqueue_many([{}] * 5)  # type: ignore[arg-type]  # another result
        for job in jobs:
            await job.await_(30)
        one, other = counts(worker, "ends", "q"), counts(worker, "in_thread")
        seen = (one.started, one.completed, one.failed, one.cancelled, one.retried, one.snoozed, one.released)
        assert seen == (28, 22, 3, 1, 1, 1, 0)
        assert (other.started, other.completed, sum(other.ran), sum(other.waited)) == (5, 5, 5, 5)
        # Interrupted and put off attempts say nothing of how long the work takes.
        assert (sum(one.ran), sum(one.waited)) == (26, 28)
        assert sum(worker._tally.claims.counts) > 0
        assert worker._tally.acks.sum >= 33
    # Written when it stopped, if not before.
    app.sessions.close()
    found = {share.job_type: share.work for share in app.sessions.run(lambda: reading.breakdown(HOUR, By.TYPE))}
    work = found["ends"]
    seen = (work.started, work.completed, work.failed, work.cancelled, work.retried, work.snoozed, work.released)
    assert seen == (28, 22, 3, 1, 1, 1, 0)
    assert (work.ran.count, work.waited.count, found["in_thread"].completed) == (26, 28, 5)
    assert 0 <= (work.waited.percentile(99) or -1) < 60
    rows = sql.execute("SELECT per, queue, completed FROM stats WHERE job_type = '' ORDER BY per, queue").fetchall()
    assert ("hour", "", 27) in rows
    await app.aclose()


async def test_a_long_job_counts_as_started_while_it_runs_and_once(app: Howdah) -> None:
    @app.job()
    async def waits() -> None:
        await go.wait()

    go = asyncio.Event()
    async with working(app) as worker:
        job = await waits.aenqueue()
        await until_async(lambda: counts(worker, "waits").started == 1, "the pulse noticed that it runs")
        assert counts(worker, "waits").completed == 0
        go.set()
        await job.await_(30)
        series = counts(worker, "waits")
        assert (series.started, series.completed, sum(series.waited)) == (1, 1, 1)
    await app.aclose()


async def test_how_long_a_job_waited_is_counted_from_when_it_was_due(app: Howdah, sql: Sql) -> None:
    @app.job()
    async def work() -> None: ...

    sql.execute("INSERT INTO jobs (job_type, created_at) VALUES ('work', now() - interval '1 hour')")
    sql.execute(
        "INSERT INTO jobs (job_type, created_at, run_at) VALUES ('work', now() - interval '9 hours', now()), "
        "('work', '-infinity', now()), ('work', '-infinity', NULL), ('work', 'infinity', NULL)"
    )
    async with working(app) as worker:
        await until_async(lambda: counts(worker, "work").completed == 5, "all ran")
        series = counts(worker, "work")
        assert series.waited[-1] == 1, "the one from the beginning of time"
        assert sum(series.waited[:-20]) == 3, "due now, or not yet"
        assert series.waited_seconds == pytest.approx(3600 + 1e7, rel=0.01), "nothing is infinite"
    await app.aclose()


async def test_an_idle_worker_writes_no_stats(app: Howdah, sql: Sql, monkeypatch: pytest.MonkeyPatch) -> None:
    @app.job()
    async def work() -> None: ...

    monkeypatch.setattr(pulse, "STATS_SECONDS", 0.01)
    written: list[str] = []
    record = store.record_stats

    def spy(stats: str) -> Any:
        written.append(stats)
        return record(stats)

    monkeypatch.setattr(store, "record_stats", spy)
    async with working(app, maintenance=False) as worker:
        await (await work.aenqueue()).await_(30)
        await until_async(lambda: worker._tally.changes()[0] == [], "it was written down")
        before = len(written)
        beats = "SELECT heartbeat_at FROM workers"
        seen: set[Any] = set()

        def has_beaten() -> bool:
            seen.update(sql.execute(beats).fetchall())
            return len(seen) > 3

        await until_async(has_beaten, "three more heartbeats")
        assert (len(written), before) == (before, before)
        load = sql.execute("SELECT load FROM workers").fetchone()
        assert load is not None
        assert load[0].keys() == {"running", "buffered", "slots", "memory", "lag"}
        assert load[0]["memory"] > 10_000_000
    await app.aclose()


def test_series_are_bounded_and_what_is_too_much_is_counted_together() -> None:
    tally = Tally()
    for number in range(MOST_SERIES + 50):
        tally.note_completed((f"type {number}", "q"), [0.1])
    series = tally.copy()
    assert len(series) == MOST_SERIES + 1
    assert series[NAMELESS].completed == 50
    assert sum(one.completed for one in series.values()) == MOST_SERIES + 50
    tally.note_completed(("type 0", "q"), [0.1, 0.2])
    assert tally.copy()["type 0", "q"].completed == 3


def test_changes_are_told_once_they_are_confirmed() -> None:
    tally = Tally()
    tally.note_started(("t", "q"), [0.5, 2.0])
    rows, state = tally.changes()
    assert rows == [
        {"job_type": "t", "queue": "q", "started": 2, "waited_seconds": 2.5, "waited": [0] * 19 + [1, 0, 0, 1]}
    ]
    assert tally.changes()[0] == rows, "not confirmed: told again"
    tally.confirm(state)
    assert tally.changes()[0] == []
    tally.note_completed(("t", "q"), [0.0])
    tally.note_rescued(("t", "q"), 3)  # written by who rescued
    assert tally.changes()[0] == [{"job_type": "t", "queue": "q", "completed": 1, "ran": [1]}]


async def test_a_role_without_the_right_works_on_and_is_told_once(
    app: Howdah, sql: Sql, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    @app.job()
    async def work() -> None: ...

    monkeypatch.setattr(pulse, "STATS_SECONDS", 0.01)
    sql.execute(
        "CREATE OR REPLACE FUNCTION record_stats(p_stats jsonb) RETURNS void LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE insufficient_privilege; END $$"
    )
    async with working(app, maintenance=False):
        for _ in range(2):
            await (await work.aenqueue()).await_(30)
            await until_async(lambda: "no right to write down" in caplog.text, "it was told")
    assert caplog.text.count("no right to write down") == 1
    assert "database lost" not in caplog.text
    await app.aclose()


async def test_stats_that_fail_are_written_later_and_hurt_nobody(
    app: Howdah, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    @app.job()
    async def work() -> None: ...

    monkeypatch.setattr(pulse, "STATS_SECONDS", 0.01)
    body = sql.execute("SELECT pg_get_functiondef('record_stats'::regproc)").fetchone()
    assert body is not None
    sql.execute(
        "CREATE OR REPLACE FUNCTION record_stats(p_stats jsonb) RETURNS void LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE lock_not_available; END $$"
    )
    async with working(app, maintenance=False) as worker:
        assert (await (await work.aenqueue()).await_(30)).status == "completed"
        await until_async(lambda: worker._tally.changes()[0] != [], "there is something to tell")
        sql.execute(body[0])
        await until_async(lambda: worker._tally.changes()[0] == [], "it was told after all")
    assert sql.execute("SELECT completed FROM stats WHERE per = 'hour' AND queue = ''").fetchall() == [(1,)]
    await app.aclose()


async def test_rescues_are_counted_by_whoever_does_them(app: Howdah, database: Database, sql: Sql) -> None:
    sql.execute(
        "INSERT INTO jobs (job_type, queue, max_attempts) SELECT 'dies', 'q', n FROM generate_series(1, 3) AS n"
    )
    sql.execute("SELECT heartbeat('dead')")
    sql.execute("SELECT claim_jobs('dead', ARRAY['dies'], 10)")
    sql.execute("UPDATE workers SET heartbeat_at = now() - interval '1 hour', silence = '1 second'")
    sql.execute("UPDATE claims SET claimed_at = now() - interval '1 hour'")
    tally = Tally()
    link = Link(database.url, Catalog(), "maintenance", Outage())
    chores = Chores(link, 0.1, lambda: None, tally)
    await until_async(lambda: _rescued(chores, sql), "the silent worker's jobs were rescued")
    await link.close()
    assert tally.copy()["dies", "q"].rescued == 3
    row = sql.execute("SELECT rescued, failed FROM stats WHERE per = 'minute' AND job_type = 'dies'").fetchone()
    assert row == (3, 1), "one of them was at its last attempt"
    await app.aclose()


async def _rescued(chores: Chores, sql: Sql) -> bool:
    # A server that has just started gives everybody a moment.
    await chores.rescue()
    return bool(sql.execute("SELECT 1 FROM stats").fetchone())


async def test_no_acknowledgement_waits_for_a_statistic(
    app: Howdah, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    @app.job(max_attempts=1)
    async def work(fails: bool) -> None:
        if fails:
            raise Fail

    def breaks(*_: object) -> None:
        raise RuntimeError("cannot count")

    for name in ("note_started", "note_completed", "note_ended"):
        monkeypatch.setattr(Tally, name, breaks)
    async with working(app):
        jobs = await work.aenqueue_many([{"fails": False}, {"fails": True}])
        assert [(await job.await_(30)).status for job in jobs] == ["completed", "failed"]
    assert caplog.text.count("jobs could not be counted") == 1
    await app.aclose()
