"""Workers ring for watchers, and only for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from howdah import Howdah, JobContext, Status
from howdah.watch import pace
from tests.conftest import Database
from tests.rig.waiting import until, until_async
from tests.rig.working import working

Sql = psycopg.Connection[Any]


@pytest.fixture
def deaf_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Polls so rare that only a ring can be the reason for a look."""
    monkeypatch.setattr(pace, "SOONEST", 600.0)
    monkeypatch.setattr(pace, "LATEST", 600.0)


async def test_claim_progress_and_end_are_told_by_the_bell(deaf_pace: None, make_app: Callable[..., Howdah]) -> None:
    app, watching = make_app(), make_app()
    go = asyncio.Event()

    @app.job()
    async def encode(ctx: JobContext) -> None:
        ctx.progress(10)
        await go.wait()

    job = await encode.aenqueue()
    watch = watching.watch(job.id, timeout=30)
    assert (await anext(watch)).status is Status.PENDING
    async with working(app):
        update = await anext(watch)
        assert update.status in (Status.CLAIMED, Status.RUNNING)
        while update.progress < 10:
            update = await anext(watch)
        assert update.status is Status.RUNNING
        go.set()
        assert (await anext(watch)).status is Status.COMPLETED


async def test_nobody_rings_where_nobody_watches(make_app: Callable[..., Howdah], database: Database) -> None:
    app = make_app()

    @app.job()
    async def tiny() -> None: ...

    def listening() -> int:
        sql.execute("SELECT 1")
        return len(heard)

    async def rung_for_another() -> bool:
        await (await tiny.aenqueue()).await_(timeout=30)
        return listening() > 0

    heard: list[str] = []
    with database.connect() as sql:
        sql.add_notify_handler(lambda notice: heard.append(notice.channel))
        sql.execute("LISTEN howdah_watch")
        async with working(app):
            for _ in range(3):
                await (await tiny.aenqueue()).await_(timeout=30)
            assert listening() == 0
            watcher = make_app()
            job = await tiny.aenqueue()
            assert [update.status async for update in watcher.watch(job.id, timeout=30)][-1] is Status.COMPLETED
            # A worker remembers for a moment that nobody watched; the reader stays a while.
            await until_async(rung_for_another, "a worker rings")
            watcher.close()


def test_a_watch_leaves_nothing_behind(app: Howdah, sql: Sql) -> None:
    @app.job()
    def work() -> None: ...

    def sessions() -> int:
        row = sql.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'howdah watch'"
            " AND datname = current_database()"
        ).fetchone()
        assert row is not None
        return int(row[0])

    job = work.enqueue()
    watches = [job.watch(timeout=30) for _ in range(3)]
    for watch in watches:
        assert next(watch).status is Status.PENDING
    assert sessions() == 1, "one reader for all of them"
    del watches, watch
    until(lambda: sessions() == 0, "the reader goes when nobody watches any more", 20)
    assert next(job.watch(timeout=30)).status is Status.PENDING
    app.close()
    until(lambda: sessions() == 0, "the reader goes with the app")
