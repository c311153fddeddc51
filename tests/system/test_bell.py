"""The bell over time: it tells of what is scheduled, and workers notice when it falls silent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from howdah import Howdah
from howdah.worker import listener
from tests.conftest import Database
from tests.rig.servers import TestServer
from tests.rig.sleeping import WatchedWakeup, watch_sleep
from tests.rig.waiting import until_async
from tests.rig.working import working

Sql = psycopg.Connection[Any]
SHORT_POLL = timedelta(milliseconds=50)

SCHEDULED = {
    "inserted": "INSERT INTO jobs (job_type, run_at) VALUES ('later', now() + interval '1 second')",
    "inserted, many at once": (
        "INSERT INTO jobs (job_type, run_at)"
        " SELECT 'later', now() + interval '1 second' * n FROM generate_series(1, 3) AS n"
    ),
    "brought forward": "UPDATE jobs SET run_at = now() + interval '1 second' WHERE job_type = 'later'",
}


@pytest.mark.parametrize("how", ["enqueued", *SCHEDULED])
async def test_an_idle_worker_learns_of_a_scheduled_job_and_starts_it_on_time(
    app: Howdah, sql: Sql, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """It polls once an hour: but for the ring it would not know of the job before the test is over."""
    ran = 0

    @app.job()
    async def later() -> None:
        nonlocal ran
        ran += 1

    if how == "brought forward":
        await later.using(delay=timedelta(days=1)).aenqueue()
    wakeup = watch_sleep(monkeypatch)
    async with working(app, poll=timedelta(hours=1), maintenance=False):
        await until_async(lambda: wakeup.asleep, "the worker listens, and sleeps")
        assert wakeup.rests[-1] > 1800
        if how == "enqueued":
            await later.using(delay=timedelta(seconds=1)).aenqueue()
        else:
            sql.execute(SCHEDULED[how].encode())
        await until_async(lambda: ran > 0, "the job that is due in a second has started", seconds=30)
    started = sql.execute("SELECT count(started_at), count(*) FILTER (WHERE started_at < run_at) FROM jobs").fetchone()
    assert started == (ran, 0)


@asynccontextmanager
async def polling(app: Howdah, wakeup: WatchedWakeup) -> AsyncIterator[None]:
    """A worker that polls often, and by now a quarter as often."""

    @app.job()
    async def work() -> None: ...

    async with working(app, poll=SHORT_POLL, maintenance=False):
        await until_async(lambda: rests_long(wakeup), "the worker trusts the bell")
        yield


def rests_long(wakeup: WatchedWakeup) -> bool:
    return bool(wakeup.rests) and wakeup.rests[-1] > SHORT_POLL.total_seconds()


def rests_short(wakeup: WatchedWakeup) -> bool:
    return bool(wakeup.rests) and wakeup.rests[-1] <= SHORT_POLL.total_seconds()


async def test_a_worker_notices_that_notifications_are_switched_off_and_on(
    app: Howdah, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "_PROBE_SECONDS", 0.05)
    wakeup = watch_sleep(monkeypatch)
    async with polling(app, wakeup):
        sql.execute("UPDATE settings SET notify = false")
        await until_async(lambda: rests_short(wakeup), "the worker polls as often as it is told to")
        sql.execute("UPDATE settings SET notify = true")
        await until_async(lambda: rests_long(wakeup), "the worker trusts the bell again")


async def test_a_worker_that_lost_its_listener_polls_as_often_as_it_is_told_to(
    app: Howdah, database: Database, server: TestServer, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    wakeup = watch_sleep(monkeypatch)
    name = Identifier(database.name)
    with psycopg.connect(server.embedded.url("postgres"), autocommit=True) as outside:
        async with polling(app, wakeup):
            # Whoever is connected stays, and nobody new comes in: only the listener is cut off.
            outside.execute(SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(name))
            try:
                ended = sql.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND application_name = 'howdah listener'"
                ).fetchall()
                assert ended == [(True,)]
                await until_async(lambda: rests_short(wakeup), "the worker polls as often as it is told to")
            finally:
                outside.execute(SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(name))
            await until_async(lambda: rests_long(wakeup), "the worker listens again, and trusts the bell")


LISTENERS = """
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'howdah listener' AND state = 'idle'
        AND query LIKE '%notify FROM%'
"""


def listeners(sql: Sql) -> list[Any]:
    """The sessions that listen: what is asked right after LISTEN has been answered."""
    return [row[0] for row in sql.execute(LISTENERS).fetchall()]


async def test_a_worker_that_lost_its_listener_hears_the_bell_again(
    app: Howdah, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It polls once an hour: but for the ring it would not know of the job before the test is over."""
    ran = asyncio.Event()

    @app.job()
    async def work() -> None:
        ran.set()

    wakeup = watch_sleep(monkeypatch)
    async with working(app, poll=timedelta(hours=1), maintenance=False):
        await until_async(lambda: bool(listeners(sql)) and wakeup.asleep, "the worker listens, and sleeps")
        first, rings = listeners(sql), wakeup.rings
        assert sql.execute("SELECT pg_terminate_backend(%s)", first).fetchone() == (True,)
        await until_async(lambda: wakeup.rings > rings and wakeup.asleep, "the worker has looked, and sleeps again")
        assert listeners(sql) not in ([], first)
        sql.execute("INSERT INTO jobs (job_type) VALUES ('work')")
        await until_async(ran.is_set, "it has heard of the job")


async def test_what_was_enqueued_while_nobody_listened_is_found_when_somebody_does(
    app: Howdah, database: Database, server: TestServer, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = asyncio.Event()

    @app.job()
    async def work() -> None:
        ran.set()

    wakeup = watch_sleep(monkeypatch)
    name = Identifier(database.name)
    with psycopg.connect(server.embedded.url("postgres"), autocommit=True) as outside:
        async with working(app, poll=timedelta(hours=1), maintenance=False):
            await until_async(lambda: bool(listeners(sql)) and wakeup.lies, "the worker listens, and lies down")
            outside.execute(SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(name))
            try:
                assert sql.execute("SELECT pg_terminate_backend(%s)", listeners(sql)).fetchone() == (True,)
                await until_async(lambda: listeners(sql) == [], "nobody listens")
                sql.execute("INSERT INTO jobs (job_type) VALUES ('work')")
                assert not ran.is_set()
            finally:
                outside.execute(SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(name))
            await until_async(ran.is_set, "it has looked for what it did not hear of")
