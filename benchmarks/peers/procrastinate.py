"""Procrastinate: one asyncio worker process."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from benchmarks.peers.contract import Peer, Plan, Sizes
from benchmarks.peers.stopping import run_until_sigterm
from benchmarks.tally import Record, open_tally

CONCURRENCY = 50
CONNECTIONS = 20

PEER = Peer(
    name="procrastinate",
    title="Procrastinate",
    packages=["procrastinate", "psycopg"],
    settings={
        "worker": f"1 process, concurrency={CONCURRENCY}, pool of {CONNECTIONS}, uvloop",
        "enqueue": "Task.defer_async, batch_defer_async for bulk",
    },
    keeps="every finished job, and an event per status change",
    handler="async def",
    durable="yes",
    sizes=Sizes(drain=2_000, bulk=20_000, batch=1_000, flow=1_000),
    waiting="SELECT count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing')",
)


def make_app(url: str, connections: int, record: Record) -> tuple[Any, Any]:
    from procrastinate import App, PsycopgConnector

    app = App(connector=PsycopgConnector(conninfo=url, min_size=1, max_size=connections))

    @app.task(name="noop")
    async def noop(n: int) -> None:
        record(n)

    return app, noop


async def prepare(url: str) -> None:
    app, _ = make_app(url, 1, lambda n: None)
    async with app.open_async():
        await app.schema_manager.apply_schema_async()


class Enqueuer:
    def __init__(self, app: Any, noop: Any) -> None:
        self._app = app
        self._noop = noop

    async def one(self, n: int) -> None:
        await self._noop.defer_async(n=n)

    async def many(self, numbers: Sequence[int]) -> None:
        await self._noop.batch_defer_async(*[{"n": n} for n in numbers])

    async def close(self) -> None:
        await self._app.close_async()


async def producer(plan: Plan) -> Enqueuer:
    app, noop = make_app(plan.url, 2, lambda n: None)
    await app.open_async()
    return Enqueuer(app, noop)


def work(plan: Plan) -> None:
    app, _ = make_app(plan.url, CONNECTIONS, open_tally(plan.path))

    async def body(stop: asyncio.Event) -> None:
        async with app.open_async():
            running = asyncio.create_task(app.run_worker_async(concurrency=CONCURRENCY, install_signal_handlers=False))
            await asyncio.wait([running, asyncio.create_task(stop.wait())], return_when=asyncio.FIRST_COMPLETED)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    run_until_sigterm(body)
