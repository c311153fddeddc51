"""Dramatiq on Redis: its command line runs two processes of eight threads."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks.peers.contract import Peer, Plan, Sizes

PROCESSES = 2
THREADS = 8

PEER = Peer(
    name="dramatiq",
    title="Dramatiq on Redis",
    packages=["dramatiq", "redis", "hiredis"],
    settings={
        "worker": f"{PROCESSES} processes of {THREADS} threads, default middleware, no result backend",
        "enqueue": "Actor.send; there is no bulk API, so bulk is the same call in a loop",
    },
    keeps="nothing: an acknowledged message is deleted",
    handler="def, in threads",
    durable="no: Redis answers from memory",
    sizes=Sizes(drain=20_000, bulk=15_000, batch=1_000, flow=500),
    store="redis",
)


def set_environment(plan: Plan) -> None:
    os.environ["BENCHMARKS_REDIS"] = plan.url
    os.environ["BENCHMARKS_FOLDER"] = plan.folder


async def prepare(url: str) -> None:
    """Redis has no schema."""


class Enqueuer:
    def __init__(self) -> None:
        from benchmarks.peers import dramatiq_actors

        self._noop: Any = dramatiq_actors.noop
        self._broker: Any = dramatiq_actors.broker

    async def one(self, n: int) -> None:
        self._noop.send(n)

    async def many(self, numbers: Sequence[int]) -> None:
        for n in numbers:
            self._noop.send(n)

    async def close(self) -> None:
        self._broker.close()


async def producer(plan: Plan) -> Enqueuer:
    set_environment(plan)
    return Enqueuer()


def work(plan: Plan) -> None:
    set_environment(plan)
    command = ["-m", "dramatiq", "benchmarks.peers.dramatiq_actors"]
    size = ["--processes", str(PROCESSES), "--threads", str(THREADS)]
    os.execv(sys.executable, [sys.executable, *command, *size])  # noqa: S606 - Dramatiq's own command takes our place, signals and all


def waiting(url: str) -> int:
    """Messages that are not acknowledged, whether waiting or handed out."""
    import redis

    with redis.Redis.from_url(url) as connection:
        return int(connection.hlen("dramatiq:default.msgs"))
