"""A drain: pending jobs, a worker that is ready, a gate that opens, and a clock until the last is acknowledged."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from howdah.bench import store
from howdah.bench.board import Board, uncounted
from howdah.bench.counters import Counters
from howdah.bench.jobs import arguments, noop
from howdah.bench.outcome import BenchFailed
from howdah.bench.processes import Child, working
from howdah.bench.stage import Stage

LOOK_SECONDS = 0.002
#: Without one more job for this long, something is wrong.
PATIENCE_SECONDS = 60.0
#: The last jobs are watched closely, all others are checked when these are through.
TAIL = 2000
#: Jobs in one enqueue_many where many are to be there.
CALL = 50_000


@dataclass(frozen=True, slots=True)
class Drained:
    """What a drain took."""

    rate: float
    counted: Counters
    troubles: list[str]


def drain(stage: Stage, jobs: int) -> Drained:
    """Enqueue, run and check so many jobs. Tables are left as they are."""
    stage.close_gate()
    ids = enqueue(stage, jobs)
    board = stage.board(jobs)
    before = stage.counters()
    with working(stage, board) as worker:
        begin = time.perf_counter()
        stage.open_gate()
        wait_ran(board, jobs, worker)
        end = wait_completed(stage, ids, worker)
        stage.close_gate()
    stage.open_gate()
    counted = stage.counters().since(before)
    return Drained(jobs / (end - begin), counted, check(stage, board, ids))


def enqueue(stage: Stage, jobs: int, first: int = 0) -> list[UUID]:
    """Jobs numbered from `first`, by enqueue_many."""
    ids: list[UUID] = []
    for start in range(first, first + jobs, CALL):
        stop = min(start + CALL, first + jobs)
        made = noop.enqueue_many([arguments(n, stage.settings.payload) for n in range(start, stop)])
        ids.extend(job.id for job in made)
    return ids


def wait_ran(board: Board, jobs: int, worker: Child) -> None:
    """Until so many handlers have run; asks no server."""
    seen, deadline = board.ran, time.monotonic() + PATIENCE_SECONDS
    while board.ran < jobs:
        time.sleep(LOOK_SECONDS)
        if board.ran != seen:
            seen, deadline = board.ran, time.monotonic() + PATIENCE_SECONDS
        worker.must_live()
        if time.monotonic() > deadline:
            raise BenchFailed(f"after {board.ran:,} of {jobs:,} jobs none ran for {PATIENCE_SECONDS:.0f} s")


def wait_completed(stage: Stage, ids: Sequence[UUID], worker: Child) -> float:
    """Until all of them stand as completed; the moment at which they did, as near as the looks are."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    tail = ids[-TAIL:]
    while True:
        looked = time.perf_counter()
        if stage.run(store.count_unfinished(tail)) == 0:
            if len(tail) == len(ids) or stage.run(store.count_unfinished(ids)) == 0:
                return looked
            # Not in order, then: from now on all of them are looked at.
            tail = ids
        worker.must_live()
        if time.monotonic() > deadline:
            raise BenchFailed(f"jobs that ran were not acknowledged within {PATIENCE_SECONDS:.0f} s")


def check(stage: Stage, board: Board, ids: Sequence[UUID], times: int = 1) -> list[str]:
    """What is wrong with jobs each of which should have run once (`times`: it is the so manieth wave of
    the same numbers)."""
    troubles = uncounted(board, len(ids), times)
    there, completed, once = stage.run(store.check_jobs(min(ids), max(ids), noop.name, int(noop.options.priority)))
    if (there, completed, once) != (len(ids),) * 3:
        troubles.append(
            f"the table has {there:,} of {len(ids):,} jobs, {completed:,} completed, {once:,} at their first attempt"
        )
    return troubles
