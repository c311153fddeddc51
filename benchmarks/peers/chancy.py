"""Chancy: one worker process with the asyncio executor."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from benchmarks.peers.contract import Peer, Plan, Sizes
from benchmarks.peers.stopping import run_until_sigterm
from benchmarks.tally import Record, open_tally

CONCURRENCY = 1_000
FLUSH_SECONDS = 0.1

PEER = Peer(
    name="chancy",
    title="Chancy",
    packages=["chancy", "psycopg"],
    settings={
        "worker": f"1 process, async executor, concurrency={CONCURRENCY}, eager_polling, polling_interval=1,"
        f" send_outgoing_interval={FLUSH_SECONDS}, log level warning, uvloop",
        "enqueue": "Chancy.push, push_many for bulk",
    },
    keeps="every finished job, until pruned",
    handler="async def",
    durable="enqueue yes; a completion is written up to its flush interval after the handler's end",
    sizes=Sizes(drain=10_000, bulk=12_000, batch=1_000, flow=1_000),
    waiting="SELECT count(*) FROM chancy_jobs WHERE state IN ('pending', 'running', 'retrying')",
)

_record: Record | None = None
"""Chancy imports a handler by its name, so what it needs stands in its module."""


async def noop(n: int) -> None:
    if _record is not None:
        _record(n)


def quiet_log() -> logging.Logger:
    """It logs each job at level info; nobody who wants speed keeps that."""
    log = logging.getLogger("chancy.quiet")
    log.setLevel(logging.WARNING)
    return log


async def prepare(url: str) -> None:
    from chancy import Chancy, Queue

    async with Chancy(url, log=quiet_log()) as chancy:
        await chancy.migrate()
        queue = Queue(
            "fast",
            concurrency=CONCURRENCY,
            executor=Chancy.Executor.Async,
            polling_interval=1,
            eager_polling=True,
        )
        await chancy.declare(queue)


class Enqueuer:
    def __init__(self, chancy: Any) -> None:
        from chancy import Job

        self._chancy = chancy
        self._job = Job.from_func(noop, queue="fast")

    async def one(self, n: int) -> None:
        await self._chancy.push(self._job.with_kwargs(n=n))

    async def many(self, numbers: Sequence[int]) -> None:
        jobs = [self._job.with_kwargs(n=n) for n in numbers]
        async for _ in self._chancy.push_many(jobs, batch_size=len(jobs)):
            pass

    async def close(self) -> None:
        await self._chancy.pool.close()


async def producer(plan: Plan) -> Enqueuer:
    from chancy import Chancy

    chancy = Chancy(plan.url, log=quiet_log())
    await chancy.pool.open()
    return Enqueuer(chancy)


def work(plan: Plan) -> None:
    from chancy import Chancy, Worker

    global _record  # noqa: PLW0603 - Chancy calls a function by its name, with nothing of ours
    _record = open_tally(plan.path)

    async def body(stop: asyncio.Event) -> None:
        async with Chancy(plan.url, log=quiet_log()) as chancy:
            worker = Worker(chancy, register_signal_handlers=False, shutdown_timeout=5)
            worker.send_outgoing_interval = FLUSH_SECONDS
            async with worker:
                await stop.wait()

    run_until_sigterm(body)
