"""Oban for Python: one process, one queue with a high limit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from benchmarks.peers.contract import Peer, Plan, Sizes
from benchmarks.peers.stopping import run_until_sigterm
from benchmarks.tally import Record, open_tally

LIMIT = 1_000
CONNECTIONS = 10

PEER = Peer(
    name="oban",
    title="Oban (Python)",
    packages=["oban", "psycopg"],
    settings={
        "worker": f"1 process, queue limit {LIMIT}, pool of {CONNECTIONS}, uvloop",
        "enqueue": "Oban.enqueue, enqueue_many for bulk",
    },
    keeps="every finished job, until pruned (a day by default)",
    handler="async def",
    durable="yes",
    sizes=Sizes(drain=15_000, bulk=10_000, batch=1_000, flow=1_000),
    waiting="SELECT count(*) FROM oban_jobs WHERE state IN ('available', 'scheduled', 'executing', 'retryable')",
    minimum_python=(3, 12),
)


def noop_worker(record: Record) -> Any:
    """The worker class under the name that it has in every process."""
    from oban import worker

    @worker(queue="default")
    class Noop:
        async def process(self, job: Any) -> None:
            record(job.args["n"])

    return Noop


async def prepare(url: str) -> None:
    from oban import Oban
    from oban.schema import install

    pool = await Oban.create_pool(url)
    await install(pool)
    await pool.close()


class Enqueuer:
    def __init__(self, oban: Any, pool: Any) -> None:
        self._oban = oban
        self._pool = pool
        self._noop = noop_worker(lambda n: None)

    async def one(self, n: int) -> None:
        await self._oban.enqueue(self._noop.new({"n": n}))

    async def many(self, numbers: Sequence[int]) -> None:
        await self._oban.enqueue_many([self._noop.new({"n": n}) for n in numbers])

    async def close(self) -> None:
        await self._pool.close()


async def producer(plan: Plan) -> Enqueuer:
    from oban import Oban

    pool = await Oban.create_pool(plan.url, min_size=1, max_size=2)
    return Enqueuer(Oban(pool=pool), pool)


def work(plan: Plan) -> None:
    from oban import Oban

    noop_worker(open_tally(plan.path))

    async def body(stop: asyncio.Event) -> None:
        pool = await Oban.create_pool(plan.url, min_size=CONNECTIONS, max_size=CONNECTIONS)
        async with Oban(pool=pool, queues={"default": LIMIT}):
            await stop.wait()
        await pool.close()

    run_until_sigterm(body)
