"""A flow: a producer enqueues and a worker runs at the same time, with a bounded backlog; counted second by second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from howdah.bench import store
from howdah.bench.board import ENQUEUED, RAN, STOP, Board, uncounted
from howdah.bench.counters import Counters
from howdah.bench.draining import PATIENCE_SECONDS, wait_ran
from howdah.bench.floor import BATCH, COUNTED_SECONDS, connect_bare
from howdah.bench.outcome import BenchFailed, Figures, ratio
from howdah.bench.processes import Child, producing, working
from howdah.bench.stage import Stage
from howdah.db.op import perform

#: No queue on any machine known to us runs more in a second; the room on the board.
MOST_PER_SECOND = 200_000
#: What a flow may have beside its counted jobs, each with a place on the board for its start.
PLACES = 1000
#: Of ten minutes, one; of less, a fifth.
WINDOW_SECONDS = 60


@dataclass
class Beside:
    """What goes on beside the flow: how many jobs it enqueues itself, and what was wrong."""

    jobs: int = 0
    troubles: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Flow:
    """What was counted: jobs in each second, and all of it."""

    rates: list[float]
    jobs: int
    counted: Counters
    troubles: list[str]

    @property
    def rate(self) -> float:
        """Jobs a second over the whole time."""
        return sum(self.rates) / len(self.rates)

    def figures(self, prefix: str = "") -> Figures:
        """Rate and flatness."""
        window = max(1, min(WINDOW_SECONDS, len(self.rates) // 5))
        return {
            f"{prefix}jobs_per_second": self.rate,
            f"{prefix}last_to_first_ratio": ratio(sum(self.rates[-window:]), sum(self.rates[:window])),
            f"{prefix}slowest_to_mean_ratio": ratio(min(self.rates), self.rate),
        }


@contextmanager
def _nothing(_stage: Stage, _board: Board) -> Iterator[Beside]:
    yield Beside()


def flow(
    stage: Stage, seconds: float, beside: Callable[[Stage, Board], AbstractContextManager[Beside]] = _nothing
) -> Flow:
    """Run one on empty tables. `beside` begins before the first job is enqueued and ends before the worker does."""
    stage.run(store.empty())
    board = stage.board(round(seconds + 5) * MOST_PER_SECOND, PLACES)
    before = stage.counters()
    with working(stage, board) as worker:
        with beside(stage, board) as other, _producing(stage, board, "howdah") as producer:
            rates = _sample(board, seconds, worker, producer)
            board.header[STOP] = 1
            producer.process.wait(PATIENCE_SECONDS)
        jobs = board.header[ENQUEUED]
        wait_ran(board, jobs, worker)
        _wait_all_completed(stage, jobs + other.jobs, worker)
    counted = stage.counters().since(before)
    troubles = [*uncounted(board, jobs), *_check(stage, jobs + other.jobs), *other.troubles]
    return Flow(rates, jobs, counted, troubles)


def flow_floor(stage: Stage, seconds: float) -> Flow:
    """The same by the barest SQL: a producer with one INSERT per batch, and the bare loop."""
    stage.run(store.empty())
    board = stage.board(round(seconds + 5) * MOST_PER_SECOND)
    before = stage.counters(floor=True)
    with connect_bare(stage) as connection, _producing(stage, board, "floor") as producer:
        _wait_first(board, producer, lambda: board.header[ENQUEUED])
        rates: list[float] = []
        begin = mark = time.perf_counter()
        marked = 0
        while (now := time.perf_counter()) < begin + seconds:
            board.header[RAN] += perform(connection, stage.catalog, store.floor_round(BATCH))
            if now >= mark + 1:
                rates.append((board.ran - marked) / (now - mark))
                mark, marked = now, board.ran
        rates = rates or [board.ran / seconds]
        board.header[STOP] = 1
        producer.process.wait(PATIENCE_SECONDS)
        while done := perform(connection, stage.catalog, store.floor_round(BATCH)):
            board.header[RAN] += done
    time.sleep(COUNTED_SECONDS)
    there, once = stage.run(store.floor_check())
    troubles = [] if there == once == board.ran else [f"the bare loop is wrong: {there:,} jobs, {once:,} ran once"]
    return Flow(rates, board.ran, stage.counters(floor=True).since(before), troubles)


def _producing(stage: Stage, board: Board, kind: str) -> AbstractContextManager[Child]:
    return producing(stage, board, kind, str(stage.settings.batch), str(stage.settings.payload))


def _sample(board: Board, seconds: float, worker: Child, producer: Child) -> list[float]:
    _wait_first(board, producer, lambda: board.ran)
    rates = []
    step = min(1.0, seconds / 2)
    begin = time.perf_counter()
    mark, marked = begin, board.ran
    for number in range(1, max(1, round(seconds / step)) + 1):
        time.sleep(max(0.0, begin + number * step - time.perf_counter()))
        worker.must_live()
        producer.must_live()
        now, ran = time.perf_counter(), board.ran
        rates.append((ran - marked) / (now - mark))
        mark, marked = now, ran
    return rates


def _wait_first(board: Board, producer: Child, happened: Callable[[], int]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        producer.must_live()
        if time.monotonic() > deadline:
            raise BenchFailed(f"the producer did not get anything through within {PATIENCE_SECONDS:.0f} s")
        time.sleep(0.005)


def _wait_all_completed(stage: Stage, jobs: int, worker: Child) -> None:
    # What is missing after this is told by the check.
    deadline = time.monotonic() + PATIENCE_SECONDS
    while stage.run(store.check_everything())[1] < jobs and time.monotonic() < deadline:
        worker.must_live()
        time.sleep(0.2)


def _check(stage: Stage, jobs: int) -> list[str]:
    there, completed, once = stage.run(store.check_everything())
    if (there, completed, once) == (jobs,) * 3:
        return []
    return [f"the table has {there:,} of {jobs:,} jobs, {completed:,} completed, {once:,} at their first attempt"]
