"""The five scenarios, the same for every system: start its processes, wait, and read the tallies.

Every rate comes from the times at which handlers ran, every run checks that no job ran twice (and in `drain` and
`latency` that each ran once). Start-up is never part of a figure.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import psycopg

from benchmarks.peers import system
from benchmarks.peers.contract import Peer, Plan
from benchmarks.processes import Child, Failure, finish, running, wait_until
from benchmarks.tally import Counter, Runs, read_tallies

WARM_UP = 2.0
"""Seconds of `sustained` and `pinned` that do not count."""
PACE = 100.0
PREPARING = 60.0


@dataclass(frozen=True)
class Bench:
    """One measurement: who, where, and how long it may take."""

    peer: Peer
    plan: Plan
    timeout: float

    def deadline(self) -> float:
        return time.monotonic() + self.timeout

    def said(self, role: str) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads((self.plan.path / f"{role}.json").read_text())
        return answer


def prepare(bench: Bench) -> None:
    finish(bench.peer, "prepare", bench.plan, PREPARING)


def drain(bench: Bench) -> dict[str, Any]:
    """Jobs that wait already, then the worker: from the first handler run to the last acknowledged."""
    jobs = bench.plan.jobs
    finish(bench.peer, "fill", bench.plan, bench.timeout)
    expect_waiting(bench, jobs)
    ran, deadline = Counter(bench.plan.path), bench.deadline()
    with running(bench.peer, "work", bench.plan) as worker:
        wait_until(lambda: ran.count() >= jobs, worker, deadline, lambda: f"{jobs} handler runs (at {ran.count()})")
        acknowledged = wait_for_acknowledgement(bench, worker, deadline)
    runs = read_tallies(bench.plan.path)
    expect_each_once(runs, jobs)
    begin, last = min(runs.times), max(runs.times)
    end = max(last, acknowledged or last)
    return {
        "jobs": jobs,
        "batch": bench.plan.batch,
        "per_second": jobs / (end - begin),
        "handlers_per_second": jobs / (last - begin),
        "acknowledged_seen": acknowledged is not None,
    }


def sustained(bench: Bench) -> dict[str, Any]:
    """Enqueue and run at the same time, at most `backlog` jobs waiting; completions per second."""
    with running(bench.peer, "work", bench.plan):
        finish(bench.peer, "flow", bench.plan, bench.timeout)
        share = acknowledged_share(bench)
        runs = read_tallies(bench.plan.path)
    expect_no_doubles(runs)
    if not len(runs):
        raise Failure("no handler ran")
    begin, whole = min(runs.times), int(bench.plan.seconds)
    seconds = [0] * whole
    for moment in runs.times:
        if moment - begin < whole:
            seconds[int(moment - begin)] += 1
    counted = seconds[int(WARM_UP) :]
    quarter = max(1, len(counted) // 4)
    first, last = sum(counted[:quarter]) / quarter, sum(counted[-quarter:]) / quarter
    return {
        "per_second": share * sum(counted) / len(counted),
        "handlers_per_second": sum(counted) / len(counted),
        "first_quarter": first,
        "last_quarter": last,
        "flatness": last / first if first else 0.0,
        "seconds": seconds,
        "enqueued": bench.said("flow")["enqueued"],
        "batch": bench.plan.batch,
    }


def pinned(bench: Bench) -> dict[str, Any]:
    """Sustained, while another session holds a snapshot that was taken before the start."""
    with snapshot_held(bench.plan.url):
        return sustained(bench)


def latency(bench: Bench) -> dict[str, Any]:
    """One job at a time at a low rate: from just before the enqueue call to the handler's first line."""
    plan, ran = bench.plan, Counter(bench.plan.path)
    with running(bench.peer, "work", plan) as worker:
        finish(bench.peer, "pace", plan, bench.timeout)
        asked = read_tallies(plan.path, "asked")
        warm = sum(1 for n in read_tallies(plan.path).numbers if n < 0)
        wait_until(lambda: ran.count() >= plan.jobs + warm, worker, bench.deadline(), lambda: "every job's run")
    every = read_tallies(plan.path)
    runs = {n: t for n, t in zip(every.numbers, every.times, strict=True) if n >= 0}
    if sum(1 for n in every.numbers if n >= 0) != plan.jobs or len(runs) != plan.jobs:
        raise Failure(f"{len(runs)} of {plan.jobs} jobs ran, or one ran twice")
    waits = sorted((runs[n] - t) * 1000 for n, t in zip(asked.numbers, asked.times, strict=True))
    return {
        "p50_ms": waits[len(waits) // 2],
        "p99_ms": waits[min(len(waits) - 1, len(waits) * 99 // 100)],
        "max_ms": waits[-1],
        "jobs": plan.jobs,
    }


def enqueue(bench: Bench) -> dict[str, Any]:
    """One job per call, one call after the other; then the bulk API. No worker runs."""
    finish(bench.peer, "enqueue", bench.plan, bench.timeout)
    said = bench.said("enqueue")
    expect_waiting(bench, int(said["enqueued"]))
    return {**said, "single": bench.plan.single, "jobs": bench.plan.jobs, "batch": bench.plan.batch}


SCENARIOS: dict[str, Callable[[Bench], dict[str, Any]]] = {
    "drain": drain,
    "sustained": sustained,
    "pinned": pinned,
    "latency": latency,
    "enqueue": enqueue,
}


def plan_for(scenario: str, plan: Plan, peer: Peer, seconds: float, jobs: int | None) -> Plan:
    """Sizes of a scenario; `jobs` from the command line replaces the system's own."""
    sizes = peer.sizes
    if scenario == "drain":
        return replace(plan, jobs=jobs or sizes.drain, batch=sizes.batch)
    if scenario == "enqueue":
        return replace(plan, jobs=jobs or sizes.bulk, single=min(sizes.single, jobs or sizes.single), batch=sizes.batch)
    if scenario == "latency":
        return replace(plan, jobs=int(PACE * seconds), rate=PACE, seconds=seconds)
    return replace(plan, seconds=seconds, batch=sizes.flow)


@contextlib.contextmanager
def snapshot_held(url: str) -> Iterator[None]:
    """What a long report or a dump does to a database: rows that died since may not be removed."""
    with psycopg.connect(url) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        connection.execute("SELECT count(*) FROM pg_class")
        yield
        connection.rollback()


def waiting(bench: Bench) -> int | None:
    """Jobs that the store does not yet regard as finished."""
    if bench.peer.waiting is not None:
        with psycopg.connect(bench.plan.url, autocommit=True) as connection:
            row = connection.execute(bench.peer.waiting.encode()).fetchone()
        return int(row[0]) if row else None
    look = getattr(system(bench.peer.name), "waiting", None)
    return None if look is None else int(look(bench.plan.url))


def acknowledged_share(bench: Bench) -> float:
    """How much of what ran the store regards as finished: a worker may run ahead of its acknowledgements."""
    ran = Counter(bench.plan.path).count()
    unfinished = waiting(bench)
    if unfinished is None or not ran:
        return 1.0
    return max(0.0, min(1.0, (int(bench.said("flow")["enqueued"]) - unfinished) / ran))


def expect_waiting(bench: Bench, jobs: int) -> None:
    if (found := waiting(bench)) not in (None, jobs):
        raise Failure(f"{jobs} jobs enqueued, {found} found in the store")


def wait_for_acknowledgement(bench: Bench, worker: Child, deadline: float) -> float | None:
    """The start of the first look that found nothing unfinished: what it saw was so by then."""
    looked, found = 0.0, None

    def all_done() -> bool:
        nonlocal looked, found
        looked = time.monotonic()
        found = waiting(bench)
        return not found

    wait_until(all_done, worker, deadline, lambda: "every acknowledgement")
    return None if found is None else looked


def expect_no_doubles(runs: Runs) -> None:
    if (doubles := len(runs) - len(set(runs.numbers))) > 0:
        raise Failure(f"{doubles} of {len(runs)} runs were of jobs that had run already")


def expect_each_once(runs: Runs, jobs: int) -> None:
    expect_no_doubles(runs)
    if len(runs) != jobs:
        raise Failure(f"{jobs} jobs, {len(runs)} runs")
