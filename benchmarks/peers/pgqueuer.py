"""PgQueuer on asyncpg: two queue managers in one process, each with a connection of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from benchmarks.peers.contract import Peer, Plan, Sizes
from benchmarks.peers.stopping import run_until_sigterm
from benchmarks.tally import open_tally

BATCH = 500
MANAGERS = 2

PEER = Peer(
    name="pgqueuer",
    title="PgQueuer",
    packages=["pgqueuer", "asyncpg"],
    settings={
        "worker": f"1 process, {MANAGERS} PgQueuer instances, batch_size={BATCH}, asyncpg, uvloop",
        "enqueue": "Queries.enqueue on asyncpg, lists for bulk",
    },
    keeps="a log entry per status change; the job's row is deleted",
    handler="async def",
    durable="yes",
    sizes=Sizes(drain=60_000),
    waiting="SELECT count(*) FROM pgqueuer",
)


async def prepare(url: str) -> None:
    import asyncpg
    from pgqueuer.db import AsyncpgDriver
    from pgqueuer.queries import Queries

    connection = await asyncpg.connect(url)
    await Queries(AsyncpgDriver(connection)).install()
    await connection.close()


class Enqueuer:
    def __init__(self, connection: Any) -> None:
        from pgqueuer.db import AsyncpgDriver
        from pgqueuer.queries import Queries

        self._connection = connection
        self._queries = Queries(AsyncpgDriver(connection))

    async def one(self, n: int) -> None:
        await self._queries.enqueue("noop", str(n).encode())

    async def many(self, numbers: Sequence[int]) -> None:
        count = len(numbers)
        await self._queries.enqueue(["noop"] * count, [str(n).encode() for n in numbers], [0] * count)

    async def close(self) -> None:
        await self._connection.close()


async def producer(plan: Plan) -> Enqueuer:
    import asyncpg

    return Enqueuer(await asyncpg.connect(plan.url))


def work(plan: Plan) -> None:
    import asyncpg
    from pgqueuer import PgQueuer

    record = open_tally(plan.path)

    async def noop(job: Any) -> None:
        record(int(job.payload))

    async def body(stop: asyncio.Event) -> None:
        managers = []
        for _ in range(MANAGERS):
            manager = PgQueuer.from_asyncpg_connection(await asyncpg.connect(plan.url))
            manager.entrypoint("noop")(noop)
            managers.append(manager)
        running = [asyncio.create_task(m.run(batch_size=BATCH, dequeue_timeout=timedelta(seconds=5))) for m in managers]
        await asyncio.wait([*running, asyncio.create_task(stop.wait())], return_when=asyncio.FIRST_COMPLETED)
        for manager in managers:
            manager.shutdown.set()
        await asyncio.gather(*running)

    run_until_sigterm(body)
