"""Late commits: enqueues that take their id early and commit when thousands of newer jobs have long been run."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from howdah.bench.board import Board
from howdah.bench.flowing import Beside
from howdah.bench.jobs import noop
from howdah.bench.pins import HELD_PLACE
from howdah.bench.stage import Stage
from howdah.db.connecting import connect

#: How many newer jobs run before the commit, and how long it is put off at least.
NEWER_JOBS = 5000
LEAST_SECONDS = 0.5
_LOOK = 0.002


class LateCommits:
    """A thread that does one after the other until told to stop."""

    def __init__(self, stage: Stage, board: Board) -> None:
        self._stage = stage
        self._board = board
        self._stop = threading.Event()
        self._committed: list[int] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.failure: BaseException | None = None

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Commit what is open, and no more."""
        self._stop.set()
        self._thread.join()

    @property
    def jobs(self) -> int:
        """How many were enqueued."""
        return len(self._committed)

    def waits(self) -> list[float | None]:
        """Milliseconds from each commit to its handler's start; None: it never started."""
        pairs = enumerate(self._committed, 1)
        return [(start - then) / 1e6 if (start := self._board.stamps[place]) else None for place, then in pairs]

    def _run(self) -> None:
        try:
            with connect(self._stage.url, "bench late") as connection:
                while not self._stop.is_set() and self.jobs + 1 < HELD_PLACE:
                    with connection.transaction():
                        noop.using(conn=connection).enqueue(-1 - (self.jobs + 1))
                        self._put_off()
                        committing = time.monotonic_ns()
                    self._committed.append(committing)
        except BaseException as error:
            self.failure = error

    def _put_off(self) -> None:
        least, ran = time.monotonic() + LEAST_SECONDS, self._board.ran
        while not self._stop.is_set() and (time.monotonic() < least or self._board.ran < ran + NEWER_JOBS):
            time.sleep(_LOOK)


@contextmanager
def committing_late(stage: Stage, board: Board, beside: Beside) -> Iterator[LateCommits]:
    """Late commits, one after the other, while the block runs; `beside` learns of them."""
    late = LateCommits(stage, board)
    late.start()
    try:
        yield late
    finally:
        late.stop()
        beside.jobs += late.jobs
        if late.failure is not None:
            beside.troubles.append(f"late commits failed: {late.failure}")
