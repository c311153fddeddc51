"""Between claim and acknowledgement, with something in the way: an end that the table refuses, a database that is away,
a type that nobody knows, a worker that was not heard, a worker that stops."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

import psycopg
import pytest

from howdah import Howdah, WorkerSettings
from howdah.db.catalog import Catalog
from howdah.db.link import Link, Outage
from howdah.db.op import Operation
from howdah.model.handler import Handler, Mode
from howdah.runtime.backoff import Pauses
from howdah.worker import acker as module
from howdah.worker import store
from howdah.worker.acker import Acker
from howdah.worker.dispatcher import Dispatcher
from howdah.worker.executor import Executor
from howdah.worker.held import Held, Holdings
from howdah.worker.runners import LoopRunner
from howdah.worker.seals import Seals
from howdah.worker.slots import Slots, make_pools
from howdah.worker.store import ClaimedJob, Completion, Demand, Ending, Place
from tests.conftest import Database
from tests.integration.test_contract import insert, value
from tests.integration.test_surface import one
from tests.rig.waiting import until_async
from tests.rig.working import QUICK

Sql = psycopg.Connection[Any]
T = TypeVar("T")
#: JSON in the eyes of a parser, and nothing that a jsonb column takes.
REFUSED = '"\\u0000"'


class ShakyLink(Link):
    """A link on which as many operations fail as it is told, as while the database is away."""

    failures = 0

    async def perform(self, operation: Operation[T]) -> T:
        if self.failures > 0:
            self.failures -= 1
            raise psycopg.OperationalError("the database is away")
        return await super().perform(operation)


class Desk:
    """An acker at work on a link of its own, and what it has to do with."""

    def __init__(self, url: str, silence: float = 3600.0) -> None:
        self.link = ShakyLink(url, Catalog(), "acks", Outage())
        self.holdings = Holdings(silence)
        self.acker = Acker(
            self.link, self.holdings, on_retry=lambda _: None, expects_more=lambda: False, seals=Seals(None)
        )

    async def claim(self, many: int) -> list[ClaimedJob]:
        haul = await self.link.perform(store.claim("w", ["plain"], Demand(many, ["default"]), Place()))
        assert len(haul.jobs) == many
        return haul.jobs

    async def hold(self, many: int) -> list[Held]:
        held = [Held(job) for job in await self.claim(many)]
        self.holdings.add(held)
        return held

    def dispatcher(self, handlers: dict[str, Handler]) -> Dispatcher:
        slots = Slots(make_pools({"default": None}, 5))
        executor = Executor(handlers, {Mode.LOOP: LoopRunner()}, Seals(None))
        return Dispatcher(handlers, executor, slots, self.holdings, self.acker, self.link)

    async def all_written(self) -> None:
        await until_async(lambda: len(self.holdings) == 0, "every end is written, and nothing held any more")


@asynccontextmanager
async def desk(database: Database, **how: float) -> AsyncIterator[Desk]:
    made = Desk(database.url, **how)
    acking = asyncio.create_task(made.acker.run())
    try:
        yield made
    finally:
        acking.cancel()
        await asyncio.gather(acking, return_exceptions=True)
        await made.link.close()


def statuses(sql: Sql) -> list[tuple[str, int]]:
    return sql.execute("SELECT status, count(*) FROM jobs GROUP BY status ORDER BY status").fetchall()


@pytest.mark.parametrize("bad", [1, 9])
async def test_an_end_that_the_table_refuses_holds_up_none_of_its_neighbours(
    database: Database, sql: Sql, bad: int
) -> None:
    for _ in range(10):
        insert(sql)
    async with desk(database) as at:
        for number, held in enumerate(await at.hold(10)):
            result = REFUSED if number < bad else f'"{number}"'
            at.acker.put(held, Completion(held.job.id, held.job.lease, result, 0.0))
        await at.all_written()
        assert (at.acker.accepted, at.acker.refused) == (10, 0)
    assert statuses(sql) == [("completed", 10 - bad), ("failed", bad)]
    said = sql.execute("SELECT DISTINCT last_error FROM jobs WHERE status = 'failed'").fetchall()
    assert said == [("its end could not be stored",)]
    assert one(sql, "SELECT count(*) FROM claims") == 0


async def test_an_acknowledgement_is_tried_until_the_database_takes_it(
    database: Database, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "Pauses", partial(Pauses, first=0.001, longest=0.001))
    job_id, other = insert(sql), insert(sql)
    async with desk(database) as at:
        done, raised = await at.hold(2)
        at.link.failures = 100
        at.acker.put(done, Completion(done.job.id, done.job.lease, "1", 0.0))
        at.acker.put(raised, Ending(raised.job.id, raised.job.lease, "fail", "broken"))
        await at.all_written()
        assert at.link.failures == 0
    assert (value(sql, "status", job_id), value(sql, "status", other)) == ("completed", "failed")
    assert one(sql, "SELECT count(*) FROM claims") == 0


async def test_claims_beyond_the_number_that_32_bits_can_hold_are_closed_too(database: Database, sql: Sql) -> None:
    sql.execute("ALTER TABLE claims ALTER COLUMN claim RESTART WITH 3000000000")
    insert(sql)
    insert(sql)
    async with desk(database) as at:
        (done,) = await at.claim(1)
        (raised,) = await at.claim(1)
        assert done.claim == 3_000_000_000
        await at.link.perform(store.complete([Completion(done.id, done.lease, None, 0.0)], [done.claim]))
        await at.link.perform(store.finish([Ending(raised.id, raised.lease, "fail", "x")], [raised.claim]))
    assert one(sql, "SELECT count(*) FROM claims") == 0


async def test_a_job_of_a_type_that_this_worker_does_not_know_is_given_back(database: Database, sql: Sql) -> None:
    job_id = insert(sql)
    async with desk(database) as at:
        at.dispatcher({}).take(await at.claim(1))
        await at.all_written()
    row = sql.execute("SELECT id, status, attempts, errors, last_error FROM jobs").fetchone()
    assert row == (job_id, "pending", 0, 0, None)


async def test_what_waits_in_a_worker_that_was_away_starts_only_when_it_is_heard_again(
    app: Howdah, database: Database, sql: Sql
) -> None:
    ran = asyncio.Event()

    @app.job()
    async def plain() -> None:
        ran.set()

    insert(sql)
    async with desk(database, silence=60.0) as at:
        at.holdings.touch(time.monotonic() - 61)
        dispatcher = at.dispatcher(app.handlers)
        dispatcher.take(await at.claim(1))
        # It has looked once and will look again, or it has run the job.
        await until_async(lambda: dispatcher._timer is not None or ran.is_set(), "it has looked")
        assert not ran.is_set()
        at.holdings.touch(time.monotonic())
        await until_async(ran.is_set, "it is heard again, and goes on")
        await at.all_written()
    assert statuses(sql) == [("completed", 1)]


async def test_a_worker_that_stops_waits_until_what_its_jobs_came_to_is_written(
    app: Howdah, database: Database, sql: Sql
) -> None:
    go = asyncio.Event()

    @app.job()
    async def work() -> None:
        await go.wait()

    set_aside = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%%not_locked(%%'"
        " AND pid <> pg_backend_pid()"
    )
    worker = app.worker(WorkerSettings(**QUICK))  # type: ignore[arg-type]  # all of them are times
    running = asyncio.create_task(worker.run())
    job = await work.aenqueue()
    await until_async(lambda: value(sql, "status", job.id) == "running", "it runs")
    with database.connect() as other, other.transaction():
        other.execute("SELECT 1 FROM jobs WHERE id = %s FOR UPDATE", (job.id,))
        go.set()
        await until_async(lambda: one(sql, set_aside) > 0, "its end cannot be written: somebody has locked the job")
        worker.stop()
        # Longer than a worker takes to stop that waits for nothing.
        await asyncio.wait((running,), timeout=1.5)
    await running
    assert (value(sql, "status", job.id), value(sql, "attempts", job.id)) == ("completed", 1)
    await app.aclose()
