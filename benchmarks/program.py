"""The process that a Python system runs in: `python -m benchmarks.program ROLE PLAN`.

Roles: `prepare` creates the schema; `fill` enqueues a number of jobs; `enqueue` measures single and bulk enqueues;
`flow` enqueues against a bounded backlog for a time; `pace` enqueues one job at a time at a fixed rate; `work` runs
the worker. peers/graphile/main.mjs has the same roles for Node. What a role measured goes to ROLE.json in the
plan's folder.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

import uvloop

from benchmarks.peers import system
from benchmarks.peers.contract import Plan, Producer
from benchmarks.tally import Counter, open_tally

WARM_CALLS = 20


async def fill(plan: Plan, producer: Producer) -> dict[str, Any]:
    """Enqueue plan.jobs in bulk."""
    last = plan.first + plan.jobs
    for start in range(plan.first, last, plan.batch):
        await producer.many(range(start, min(start + plan.batch, last)))
    return {"jobs": plan.jobs}


async def enqueue(plan: Plan, producer: Producer) -> dict[str, Any]:
    """Time plan.single calls one after the other, then plan.jobs in bulk, after a few calls that warm up."""
    warm = plan.first + WARM_CALLS
    for n in range(plan.first, warm):
        await producer.one(n)
    begin = time.monotonic()
    for n in range(warm, warm + plan.single):
        await producer.one(n)
    single = time.monotonic() - begin
    bulk_plan = Plan(plan.system, plan.url, plan.folder, warm + plan.single, plan.jobs, batch=plan.batch)
    begin = time.monotonic()
    await fill(bulk_plan, producer)
    bulk = time.monotonic() - begin
    return {
        "enqueued": WARM_CALLS + plan.single + plan.jobs,
        "single_per_second": plan.single / single,
        "bulk_per_second": plan.jobs / bulk,
    }


async def flow(plan: Plan, producer: Producer) -> dict[str, Any]:
    """Keep at most plan.backlog jobs waiting, for plan.seconds from the first handler run."""
    ran = Counter(plan.path)
    next_number, started = plan.first, None
    while started is None or time.monotonic() < started + plan.seconds:
        done = ran.count()
        if started is None and done:
            started = time.monotonic()
        if next_number - plan.first - done >= plan.backlog:
            await asyncio.sleep(0.002)
            continue
        await producer.many(range(next_number, next_number + plan.batch))
        next_number += plan.batch
    return {"enqueued": next_number - plan.first}


async def pace(plan: Plan, producer: Producer) -> dict[str, Any]:
    """Let the worker run a few jobs, then enqueue plan.jobs, one every 1/rate seconds, noting each call's start."""
    ran, warm = Counter(plan.path), 0
    while ran.count() < WARM_CALLS:
        if warm < WARM_CALLS:
            warm += 1
            await producer.one(-warm)  # negative numbers are not looked at
        await asyncio.sleep(0.01)
    await asyncio.sleep(1.0)
    record = open_tally(plan.path, "asked")
    begin = time.monotonic()
    for i in range(plan.jobs):
        await asyncio.sleep(max(0.0, begin + i / plan.rate - time.monotonic()))
        record(plan.first + i)
        await producer.one(plan.first + i)
    return {"enqueued": plan.jobs, "seconds": time.monotonic() - begin}


PRODUCERS: dict[str, Callable[[Plan, Producer], Coroutine[Any, Any, dict[str, Any]]]] = {
    "fill": fill,
    "enqueue": enqueue,
    "flow": flow,
    "pace": pace,
}


async def produce(role: str, plan: Plan) -> None:
    producer = await system(plan.system).producer(plan)
    try:
        said = await PRODUCERS[role](plan, producer)
    finally:
        await producer.close()
    (plan.path / f"{role}.json").write_text(json.dumps(said))


def main(role: str, text: str) -> None:
    plan = Plan.from_json(text)
    if role == "work":
        system(plan.system).work(plan)
    elif role == "prepare":
        uvloop.run(system(plan.system).prepare(plan.url))
    else:
        uvloop.run(produce(role, plan))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
