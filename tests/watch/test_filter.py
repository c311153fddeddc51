"""Watching by a filter: what is met, what is told, what is not."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import psycopg

from howdah import Howdah, Status, Watch
from tests.rig.working import working
from tests.watch.claiming import claim

Sql = psycopg.Connection[Any]


def define(app: Howdah) -> tuple[Any, Any]:
    @app.job()
    def work() -> None: ...

    @app.job(queue="other")
    def rest() -> None: ...

    return work, rest


def told(watch: Watch) -> tuple[UUID, Status]:
    update = next(watch)
    return update.job_id, update.status


def test_what_stands_is_told_and_then_what_changes_and_what_is_new(app: Howdah, sql: Sql) -> None:
    work, rest = define(app)
    past, waiting = work.enqueue(), work.enqueue()
    past.cancel()
    sql.execute("UPDATE jobs SET completed_at = completed_at - interval '1 s' WHERE id = %s", (past.id,))
    rest.enqueue()
    watch = app.watch(job_types="work", timeout=30)
    assert told(watch) == (waiting.id, Status.PENDING), "what had ended before is no news"
    fresh = work.enqueue()
    rest.enqueue()
    assert told(watch) == (fresh.id, Status.PENDING)
    job_id, lease = claim(sql, "work")
    assert told(watch) == (waiting.id, Status.CLAIMED)
    sql.execute("SELECT complete_job(%s, %s)", (job_id, lease))
    assert told(watch) == (waiting.id, Status.COMPLETED)
    with sql.transaction():
        brief = work.using(conn=sql).enqueue()
        sql.execute("SELECT cancel_job(%s)", (brief.id,))
    assert told(watch) == (brief.id, Status.CANCELLED), "begun and ended between two looks"


def test_a_queue_and_a_status_choose(app: Howdah, sql: Sql) -> None:
    work, rest = define(app)
    watch = app.watch(queues=["other"], statuses=[Status.RUNNING, "failed"], timeout=30)
    work.enqueue()
    job = rest.enqueue()
    work_id, work_lease = claim(sql, "work")
    sql.execute("SELECT start_job(%s, %s)", (work_id, work_lease))
    job_id, lease = claim(sql, "rest")
    sql.execute("SELECT start_job(%s, %s)", (job_id, lease))
    assert told(watch) == (job.id, Status.RUNNING)
    sql.execute("SELECT fail_job(%s, %s, 'no', NULL, true)", (job_id, lease))
    assert told(watch) == (job.id, Status.FAILED)


def test_old_events_are_no_news_and_new_ones_are_all_told(app: Howdah, sql: Sql) -> None:
    work, _ = define(app)
    work.enqueue()
    job_id, lease = claim(sql, "work")
    sql.execute("SELECT record_event(%s, %s, 'old')", (job_id, lease))
    watch = app.watch(timeout=30)
    assert next(watch).events == ()
    sql.execute("SELECT record_event(%s, %s, 'new')", (job_id, lease))
    assert [(event.seq, event.name) for event in next(watch).events] == [(2, "new")]


def test_a_retried_job_is_met_again(app: Howdah, sql: Sql) -> None:
    work, _ = define(app)
    job = work.enqueue()
    watch = app.watch(timeout=30)
    assert told(watch) == (job.id, Status.PENDING)
    job.cancel()
    assert told(watch) == (job.id, Status.CANCELLED)
    for _ in range(20):
        # The watch forgets it, as it forgets whatever has ended and is not held.
        other = work.enqueue()
        assert told(watch) == (other.id, Status.PENDING)
        other.cancel()
        assert told(watch) == (other.id, Status.CANCELLED)
    job.retry()
    claim(sql, "work")
    while told(watch) != (job.id, Status.CLAIMED):
        pass


async def test_a_flood_is_followed_to_its_last_job(app: Howdah) -> None:
    @app.job()
    async def tiny(n: int) -> int:
        return n

    async with working(app):
        ended: set[UUID] = set()
        watch = app.watch(job_types="tiny", statuses=[Status.COMPLETED], timeout=60)
        first = asyncio.ensure_future(anext(watch))
        jobs = await tiny.aenqueue_many([{"n": n} for n in range(150)])
        ended.add((await first).job_id)
        while len(ended) < len(jobs):
            ended.add((await anext(watch)).job_id)
        assert ended == {job.id for job in jobs}
