"""awa-pg: a Rust engine that calls Python handlers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from benchmarks.peers.contract import Peer, Plan, Sizes
from benchmarks.peers.stopping import run_until_sigterm
from benchmarks.tally import open_tally

WORKERS = 500
CONNECTIONS = 20

PEER = Peer(
    name="awa",
    title="awa-pg",
    packages=["awa-pg"],
    settings={
        "worker": f"1 process, {WORKERS} workers, {CONNECTIONS} connections, uvloop",
        "enqueue": "AsyncClient.insert, enqueue_many_copy for bulk",
    },
    keeps="a receipt of each finished job, in segments that are dropped later",
    handler="async def",
    durable="yes",
    language="Rust and Python",
    sizes=Sizes(drain=30_000),
    # Not its view awa.jobs nor queue_stats(): after a drain they took more than a minute here; why was not looked into.
    waiting="SELECT (SELECT count(*) FROM awa.ready_entries)"
    " - (SELECT coalesce(sum(completed_count), 0) FROM awa.receipt_completion_batches)",
)


def with_socket_as_host(url: str) -> str:
    """Its driver takes the folder of a socket as the host part of the address only, not as a parameter."""
    parts = urlsplit(url)
    given = parse_qs(parts.query)
    if "host" not in given:
        return url
    host = f"{parts.username}@{quote(given['host'][0], safe='')}:{given.get('port', ['5432'])[0]}"
    return f"{parts.scheme}://{host}{parts.path}"


@dataclass
class Noop:
    n: int


async def prepare(url: str) -> None:
    import awa

    address = with_socket_as_host(url)
    await awa.migrate(address)
    client = awa.AsyncClient(address)
    await client.install_queue_storage()  # the engine its COPY needs; as fresh installs are meant to have it
    await client.close()


class Enqueuer:
    def __init__(self, client: Any) -> None:
        self._client = client

    async def one(self, n: int) -> None:
        await self._client.insert(Noop(n), queue="default")

    async def many(self, numbers: Sequence[int]) -> None:
        await self._client.enqueue_many_copy([Noop(n) for n in numbers], queue="default")

    async def close(self) -> None:
        await self._client.close()


async def producer(plan: Plan) -> Enqueuer:
    from awa import AsyncClient

    return Enqueuer(AsyncClient(with_socket_as_host(plan.url)))


def work(plan: Plan) -> None:
    from awa import AsyncClient

    record = open_tally(plan.path)

    async def body(stop: asyncio.Event) -> None:
        client = AsyncClient(with_socket_as_host(plan.url), max_connections=CONNECTIONS)

        @client.task(Noop, queue="default")
        async def noop(job: Any) -> None:
            record(job.args.n)

        await client.start([("default", WORKERS)])
        await stop.wait()
        await client.shutdown()

    run_until_sigterm(body)
