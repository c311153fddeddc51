"""What a worker serves and when: order, queues and their concurrency, pauses, time, and waking up."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from howdah import Howdah
from tests.rig.working import working

Sql = psycopg.Connection[Any]


async def test_strict_priority_across_queues_and_types(app: Howdah) -> None:
    order: list[str] = []

    @app.job(queue="one")
    async def first(tag: str) -> None:
        order.append(tag)

    @app.job(queue="two")
    async def second(tag: str) -> None:
        order.append(tag)

    jobs = []
    for priority in (10, 150, -5, 100, 30):
        for definition in (first, second):
            tag = f"{priority:+04d}{definition.name}"
            jobs.append(await definition.using(priority=priority).aenqueue(tag))
    async with working(app, concurrency=1):
        for job in jobs:
            await job.await_(30)
    assert [int(tag[:4]) for tag in order] == [150, 150, 100, 100, 30, 30, 10, 10, -5, -5]


async def test_a_worker_serves_only_its_queues_and_types_with_their_concurrency(app: Howdah) -> None:
    running: dict[str, int] = {"emails": 0, "video": 0}
    most: dict[str, int] = dict(running)

    async def busy(queue: str) -> None:
        running[queue] += 1
        most[queue] = max(most[queue], running[queue])
        await asyncio.sleep(0.02)
        running[queue] -= 1

    @app.job(queue="emails")
    async def mail() -> None:
        await busy("emails")

    @app.job(queue="video")
    async def cut() -> None:
        await busy("video")

    @app.job(queue="video")
    async def unserved() -> None: ...

    mails, cuts = await mail.aenqueue_many([{}] * 30), await cut.aenqueue_many([{}] * 12)
    elsewhere = await mail.using(queue="elsewhere").aenqueue()
    other = await unserved.aenqueue()
    async with working(app, queues={"emails": 5, "video": 2}, job_types=["mail", "cut"]):
        for job in mails + cuts:
            await job.await_(30)
        assert (await elsewhere.arefresh()).status == "pending"
        assert (await other.arefresh()).status == "pending"
    assert most == {"emails": 5, "video": 2}


async def test_delay_and_run_at(app: Howdah, sql: Sql) -> None:
    @app.job()
    async def later() -> None: ...

    async with working(app):
        delayed = await later.using(delay=timedelta(milliseconds=600)).aenqueue()
        at = await later.using(run_at=datetime.now(UTC) + timedelta(milliseconds=600)).aenqueue()
        many = await later.using(delay=timedelta(milliseconds=600)).aenqueue_many([{}] * 300)
        for job in [delayed, at, many[-1]]:
            record = (await job.await_(30)).record
            assert record.started_at is not None
            assert record.run_at is not None
            # Never before its time, by the database's clock; how soon after is measured, not asserted.
            assert record.started_at >= record.run_at
    far = await later.using(delay=timedelta(days=30)).aenqueue()
    row = sql.execute("SELECT run_at - now() > interval '29 days' FROM jobs WHERE id = %s", (far.id,)).fetchone()
    assert row == (True,)
    await app.aclose()


@pytest.mark.parametrize(("kind", "name"), [("queue", "q"), ("type", "work")])
async def test_pause_and_resume_for_the_whole_fleet(app: Howdah, sql: Sql, kind: str, name: str) -> None:
    @app.job(queue="q")
    async def work() -> None: ...

    @app.job()
    async def other() -> None: ...

    async with working(app):
        await (await work.aenqueue()).await_(30)
        sql.execute("SELECT pause(%s, %s)", (kind, name))
        paused = await work.aenqueue()
        await (await other.aenqueue()).await_(30)
        assert (await paused.arefresh()).status == "pending"
        sql.execute("SELECT resume(%s, %s)", (kind, name))
        await paused.await_(30)
        assert paused.status == "completed"


async def test_works_with_notifications_off(app: Howdah, sql: Sql) -> None:
    @app.job()
    async def work() -> None: ...

    sql.execute("UPDATE settings SET notify = false")
    async with working(app, listen=False):
        job = await work.aenqueue()
        await job.await_(30)
        assert job.status == "completed"


async def test_a_full_queue_beside_an_idle_one_is_not_drained_at_polling_speed(app: Howdah) -> None:
    """Twenty instant jobs through one slot, while another pool has room and nothing to do: no poll is needed."""

    @app.job(queue="narrow")
    async def instant() -> None: ...

    @app.job()
    async def other() -> None: ...

    jobs = await instant.aenqueue_many([{}] * 20)
    async with working(app, queues={"default": None, "narrow": 1}, poll=timedelta(hours=1), listen=False):
        for job in jobs:
            await job.await_(30)
