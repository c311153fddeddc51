"""latency: from the call of enqueue to the start of the handler, at a low rate, on the clock all processes share."""

from __future__ import annotations

import time

from howdah.bench import store
from howdah.bench.board import STAMPED_TWICE, Board
from howdah.bench.draining import PATIENCE_SECONDS
from howdah.bench.jobs import noop, padding
from howdah.bench.outcome import Figures, Outcome, percentile
from howdah.bench.processes import Child, working
from howdah.bench.stage import Stage

SECONDS = 5.0
#: The first calls open connections.
_WARM_UP = 10


def measure(stage: Stage) -> Outcome:
    """So many seconds in every round."""
    settings = stage.settings
    seconds = settings.seconds or SECONDS
    jobs = max(1, round(seconds * settings.rate))
    outcome = Outcome("latency", {"jobs": jobs, "jobs_per_second": settings.rate})
    outcome.remark("it has no floor: nothing here is a throughput")
    for number in range(1, settings.rounds + 1):
        stage.say(f"latency: round {number} of {settings.rounds}")
        stage.run(store.empty())
        board = stage.board(0, jobs + _WARM_UP + 1)
        with working(stage, board) as worker:
            called = _call(stage, jobs + _WARM_UP)
            _wait_stamped(board, len(called), worker)
        outcome.rounds.append(_figures(board, called, outcome))
    return outcome


def _call(stage: Stage, jobs: int) -> list[int]:
    """When each was called."""
    called = []
    pad = "x" * padding(stage.settings.payload)
    begin = time.perf_counter()
    for number in range(jobs):
        time.sleep(max(0.0, begin + number / stage.settings.rate - time.perf_counter()))
        called.append(time.monotonic_ns())
        noop.enqueue(-2 - number, pad)
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
