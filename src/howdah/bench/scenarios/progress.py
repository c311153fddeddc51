"""progress: many running jobs that each report ten times a second: what it costs the server, and other jobs."""

from __future__ import annotations

import time

from howdah.bench import store
from howdah.bench.board import RAN, RUNNING, STOP, Board
from howdah.bench.draining import PATIENCE_SECONDS, drain
from howdah.bench.floor import drain_floor
from howdah.bench.jobs import report
from howdah.bench.load import Load, watch
from howdah.bench.outcome import BenchFailed, Outcome, ratio
from howdah.bench.processes import Child, working
from howdah.bench.scenarios.drain import JOBS
from howdah.bench.stage import Stage

REPORTERS = 1000
SECONDS = 10.0


def measure(stage: Stage) -> Outcome:
    """In every round: the reporters alone, others beside them, then those others alone."""
    settings = stage.settings
    reporters, jobs = settings.reporters or REPORTERS, settings.jobs or JOBS
    seconds = settings.seconds or SECONDS
    outcome = Outcome("progress", {"reporters": reporters, "jobs": jobs, "seconds": seconds})
    outcome.remark("writing transactions are those that took a transaction id, of everybody on this server")
    for number in range(1, settings.rounds + 1):
        stage.say(f"progress: round {number} of {settings.rounds}")
        stage.run(store.empty())
        board = stage.board(reporters)
        report.enqueue_many([{"n": n} for n in range(reporters)])
        with working(stage, board, types=("report",), concurrency=reporters + 100) as worker:
            _wait(board, RUNNING, reporters, worker)
            load = watch(stage, seconds)
            beside = drain(stage, jobs)
            board.header[STOP] = 1
            _wait(board, RAN, reporters, worker)
        outcome.troubles.extend([*beside.troubles, *_check(stage, board, reporters)])
        stage.run(store.empty())
        alone = drain(stage, jobs)
        outcome.troubles.extend(alone.troubles)
        floor, _ = drain_floor(stage, jobs)
        outcome.rounds.append({**_costs(load), **_rates(beside.rate, alone.rate, floor)})
    if outcome.rounds[-1]["statements_per_second"] is None:
        outcome.remark("statements were not measured: pg_stat_statements is not installed")
    return outcome


def _costs(load: Load) -> dict[str, float | None]:
    return {
        "statements_per_second": load.statements,
        "transactions_per_second": load.transactions,
        "writing_transactions_per_second": load.writing_transactions,
        "server_cpu_percent": None if load.cores is None else 100 * load.cores,
    }


def _rates(beside: float, alone: float, floor: float) -> dict[str, float | None]:
    return {
        "beside_jobs_per_second": beside,
        "alone_jobs_per_second": alone,
        "beside_to_alone_ratio": ratio(beside, alone),
        "floor_jobs_per_second": floor,
        "alone_ratio_to_floor": ratio(alone, floor),
    }


def _wait(board: Board, what: int, wanted: int, worker: Child) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while board.header[what] < wanted:
        worker.must_live()
        if time.monotonic() > deadline:
            raise BenchFailed(f"of {wanted:,} reporting jobs {board.header[what]:,} came so far")
        time.sleep(0.02)


def _check(stage: Stage, board: Board, reporters: int) -> list[str]:
    there, completed, once = stage.run(store.check_everything(report.name))
    once_each = bytes(board.counts[:reporters]).count(1)
    if there == completed == once == once_each == reporters:
        return []
    return [
        f"of {reporters:,} reporting jobs {completed:,} completed, {once:,} at once, {once_each:,} ran exactly once"
    ]
