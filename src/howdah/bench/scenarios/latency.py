"""latency: from the call of enqueue to the start of the handler, at a low rate, on the clock all processes share."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from howdah.bench import store
from howdah.bench.board import STAMPED_TWICE, Board
from howdah.bench.draining import PATIENCE_SECONDS
from howdah.bench.floor import connect_bare
from howdah.bench.jobs import noop, padding
from howdah.bench.outcome import Figures, Outcome, percentile, ratio
from howdah.bench.processes import Child, working, working_barely
from howdah.bench.stage import Stage
from howdah.db.op import perform
from howdah.model.job_id import new_job_ids

SECONDS = 5.0
#: The first calls open connections.
_WARM_UP = 10


def measure(stage: Stage) -> Outcome:
    """So many seconds in every round, and as many of the floor: a bare INSERT that notifies, and a loop that claims."""
    settings = stage.settings
    seconds = settings.seconds or SECONDS
    jobs = max(1, round(seconds * settings.rate))
    outcome = Outcome("latency", {"jobs": jobs, "jobs_per_second": settings.rate})
    for number in range(1, settings.rounds + 1):
        stage.say(f"latency: round {number} of {settings.rounds}")
        own = _latency(stage, jobs, working, _enqueue(stage), outcome)
        with connect_bare(stage) as bare:
            floor = _latency(stage, jobs, working_barely, _enqueue_barely(stage, bare), outcome)
        outcome.rounds.append(
            {
                **own,
                **{f"floor_{name}": value for name, value in floor.items()},
                "p50_to_floor_ratio": ratio(own["latency_p50_ms"] or 0.0, floor["latency_p50_ms"] or 0.0),
            }
        )
    return outcome


def _latency(
    stage: Stage,
    jobs: int,
    serving: Callable[[Stage, Board], AbstractContextManager[Child]],
    enqueue: Callable[[int], object],
    outcome: Outcome,
) -> Figures:
    stage.run(store.empty())
    board = stage.board(0, jobs + _WARM_UP + 1)
    with serving(stage, board) as worker:
        called = _call(stage.settings.rate, jobs + _WARM_UP, enqueue)
        _wait_stamped(board, len(called), worker)
    return _figures(board, called, outcome)


def _enqueue(stage: Stage) -> Callable[[int], object]:
    pad = "x" * padding(stage.settings.payload)
    return lambda number: noop.enqueue(number, pad)


def _enqueue_barely(stage: Stage, bare: Any) -> Callable[[int], object]:
    pad = "x" * padding(stage.settings.payload)

    def enqueue(number: int) -> None:
        data = f'{{"n": {number}, "pad": "{pad}"}}'
        perform(bare, stage.catalog, store.floor_enqueue(new_job_ids(1)[0], data))

    return enqueue


def _call(rate: float, jobs: int, enqueue: Callable[[int], object]) -> list[int]:
    """When each was called."""
    called = []
    begin = time.perf_counter()
    for number in range(jobs):
        time.sleep(max(0.0, begin + number / rate - time.perf_counter()))
        called.append(time.monotonic_ns())
        enqueue(-2 - number)
    return called


def _wait_stamped(board: Board, jobs: int, worker: Child) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while 0 in board.stamps[1 : jobs + 1].tolist() and time.monotonic() < deadline:
        worker.must_live()
        time.sleep(0.05)


def _figures(board: Board, called: list[int], outcome: Outcome) -> Figures:
    started = board.stamps[1 : len(called) + 1].tolist()
    lost = started.count(0)
    if lost:
        outcome.troubles.append(f"{lost} of {len(called)} jobs did not run")
    if board.header[STAMPED_TWICE]:
        outcome.troubles.append(f"{board.header[STAMPED_TWICE]} jobs ran twice")
    pairs = list(zip(called, started, strict=True))[_WARM_UP:]
    waits = [(start - call) / 1e6 for call, start in pairs if start]
    return {
        "latency_p50_ms": percentile(waits, 50),
        "latency_p99_ms": percentile(waits, 99),
        "latency_max_ms": max(waits, default=None),
    }
