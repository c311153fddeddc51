"""Celery on Redis: one process without result backend; in short trials ahead of handing no-ops to children."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.peers.contract import Peer, Plan, Sizes
from benchmarks.tally import Record, open_forking_tally

PREFETCH = 1_000

PEER = Peer(
    name="celery",
    title="Celery on Redis",
    packages=["celery", "redis", "hiredis"],
    settings={
        "worker": f"1 process, pool solo (ahead of prefork in trials), prefetch multiplier {PREFETCH},"
        " no result backend, no gossip, mingle or heartbeat, events off",
        "enqueue": "Task.apply_async on one connection; there is no bulk API, so bulk is the same call in a loop",
    },
    keeps="nothing (no result backend); acknowledged before the handler runs, as is its default",
    handler="def",
    durable="no: Redis answers from memory",
    sizes=Sizes(drain=6_000, single=2_000, bulk=8_000, batch=1_000, flow=200),
    store="redis",
)


def make_app(url: str, record: Record) -> tuple[Any, Any]:
    from celery import Celery

    app = Celery("benchmarks", broker=url)
    app.conf.update(
        task_ignore_result=True,
        worker_prefetch_multiplier=PREFETCH,
        broker_connection_retry_on_startup=True,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
    )

    @app.task(name="noop")
    def noop(n: int) -> None:
        record(n)

    return app, noop


async def prepare(url: str) -> None:
    """Redis has no schema."""


class Enqueuer:
    def __init__(self, app: Any, noop: Any) -> None:
        self._app = app
        self._noop = noop
        self._producer = app.amqp.producer_pool.acquire(block=True)

    async def one(self, n: int) -> None:
        self._noop.apply_async(kwargs={"n": n}, producer=self._producer)

    async def many(self, numbers: Sequence[int]) -> None:
        for n in numbers:
            self._noop.apply_async(kwargs={"n": n}, producer=self._producer)

    async def close(self) -> None:
        self._producer.release()
        self._app.close()


async def producer(plan: Plan) -> Enqueuer:
    return Enqueuer(*make_app(plan.url, lambda n: None))


def work(plan: Plan) -> None:
    app, _ = make_app(plan.url, open_forking_tally(plan.path))
    options = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=warning"]
    app.worker_main(["worker", "--pool=solo", *options])


def waiting(url: str) -> int:
    """Messages in the queue, and those handed out but not acknowledged."""
    import redis

    with redis.Redis.from_url(url) as connection:
        return int(connection.llen("celery")) + int(connection.hlen("unacked"))
