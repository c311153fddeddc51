"""The heartbeat: whatever a handler does to the event loop, and whatever time the worker's machine thinks it is."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from howdah import Howdah, JobContext, Retry
from tests.conftest import Database
from tests.rig.waiting import until, until_async
from tests.rig.working import working

Sql = psycopg.Connection[Any]
HEARTBEAT = "SELECT max(heartbeat_at) FROM workers"


async def test_a_handler_that_blocks_the_event_loop_does_not_stop_the_heartbeat(
    app: Howdah, database: Database
) -> None:
    @app.job(max_attempts=1)
    async def blocks() -> None:
        with database.connect() as own:
            last = own.execute(HEARTBEAT).fetchone()
            until(lambda: own.execute(HEARTBEAT).fetchone() != last, "a heartbeat, while nothing else can run", 10)

    async with working(app):
        job = await blocks.aenqueue()
        await job.await_(60)
    assert (job.status, job.last_error) == ("completed", None)
    await app.aclose()


@pytest.mark.parametrize("hours", [-1, 1])
async def test_the_clock_of_the_workers_machine_does_not_matter(
    app: Howdah, sql: Sql, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    true_time = time.time
    monkeypatch.setattr(time, "time", lambda: true_time() + 3600 * hours)

    @app.job()
    async def work(ctx: JobContext) -> None:
        if ctx.attempt == 1:
            raise Retry(after=timedelta(milliseconds=50))

    # It signs on twice, at its first claim and at its first pulse; what is seen after that are heartbeats.
    seen: dict[Any, bool] = {}

    def has_beaten() -> bool:
        query = f"SELECT b, b BETWEEN now() - interval '10 minutes' AND clock_timestamp() FROM ({HEARTBEAT}) AS h (b)"
        seen.update(sql.execute(query.encode()).fetchall())
        return len(seen) > 3

    # Nobody signs it off, and no pause of a busy machine makes it sign on again.
    async with working(app, maintenance=False, silence=timedelta(seconds=6)):
        job = await work.aenqueue()
        record = (await job.await_(30)).record
        await until_async(has_beaten, "a heartbeat")
        assert set(seen.values()) == {True}, "a heartbeat by another clock than the database's"
    assert (record.status, record.attempts, record.deaths) == ("completed", 2, 0)
    row = sql.execute(
        "SELECT run_at BETWEEN created_at AND completed_at AND started_at BETWEEN run_at AND completed_at"
        " AND completed_at < clock_timestamp() FROM jobs"
    ).fetchone()
    assert row == (True,)
    await app.aclose()
