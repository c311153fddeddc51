"""Howdah itself, as an application would use it: blocking enqueue, one asyncio worker process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from benchmarks.peers.contract import Peer, Plan
from benchmarks.peers.stopping import run_until_sigterm
from benchmarks.tally import open_tally

CONCURRENCY = 100

PEER = Peer(
    name="howdah",
    title="Howdah",
    packages=["howdah", "psycopg"],
    settings={"worker": f"1 process, WorkerSettings(concurrency={CONCURRENCY}), uvloop", "enqueue": "blocking API"},
    keeps="every finished job, with its result and times",
    handler="async def",
    durable="yes (enqueue and completion)",
    waiting="SELECT count(*) FROM howdah.jobs WHERE status IN ('pending', 'claimed', 'running')",
)


async def prepare(url: str) -> None:
    import psycopg

    from howdah.db.catalog import Catalog
    from howdah.db.migrator import migrate

    with psycopg.connect(url, autocommit=True) as connection:
        migrate(connection, Catalog())


class Enqueuer:
    """`enqueue` and `enqueue_many` of one job type."""

    def __init__(self, url: str) -> None:
        from howdah import Howdah

        self._app = Howdah(url)

        @self._app.job()
        async def noop(n: int) -> None: ...

        self._noop = noop

    async def one(self, n: int) -> None:
        self._noop.enqueue(n=n)

    async def many(self, numbers: Sequence[int]) -> None:
        self._noop.enqueue_many([{"n": n} for n in numbers])

    async def close(self) -> None:
        self._app.close()


async def producer(plan: Plan) -> Enqueuer:
    return Enqueuer(plan.url)


def work(plan: Plan) -> None:
    from howdah import Howdah, WorkerSettings

    record: Callable[[int], None] = open_tally(plan.path)
    app = Howdah(plan.url)

    @app.job()
    async def noop(n: int) -> None:
        record(n)

    async def body(stop: asyncio.Event) -> None:
        worker = app.worker(WorkerSettings(concurrency=CONCURRENCY))
        running = asyncio.create_task(worker.run())
        await asyncio.wait([running, asyncio.create_task(stop.wait())], return_when=asyncio.FIRST_COMPLETED)
        worker.stop()
        await running

    run_until_sigterm(body)
