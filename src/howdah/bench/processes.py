"""The processes that a bench starts: real workers, and producers. Each ends with the bench, even if that is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from howdah.bench import store
from howdah.bench.board import Board
from howdah.bench.jobs import BOARD_VARIABLE
from howdah.bench.outcome import BenchFailed
from howdah.bench.stage import Stage

START_SECONDS = 60.0
STOP_SECONDS = 40.0
#: Until the listener listens and the first, empty claims are through.
SETTLE_SECONDS = 0.4
#: Until the server has counted what the backends of an ended process did.
COUNTED_SECONDS = 0.3
_APP = "howdah.bench.jobs:app"


class Child:
    """One started process and its log."""

    def __init__(self, stage: Stage, arguments: Sequence[str], board: Board) -> None:
        self.log = stage.folder / f"log-{time.monotonic_ns()}"
        environment = {**os.environ, "HOWDAH_URL": stage.url, BOARD_VARIABLE: str(board.path)}
        with self.log.open("wb") as log:
            # A session of its own: Ctrl-C in the terminal is for the bench, which then stops its processes itself.
            # -P and the bench's folder: what lies in the caller's folder must not be imported in place of a library.
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", *arguments],
                cwd=stage.folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def must_live(self) -> None:
        """Raise with its last words if it has ended."""
        if self.process.poll() is not None:
            raise BenchFailed(f"a process left with exit code {self.process.returncode}: {_last_words(self.log)}")

    def stop(self) -> None:
        """In peace, or by force if that takes too long."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()

    def kill(self) -> None:
        """At once; nothing that it holds is wanted any more."""
        self.process.kill()
        self.stop()


@contextmanager
def working(
    stage: Stage, board: Board, *, types: Sequence[str] = ("noop",), concurrency: int | None = None
) -> Iterator[Child]:
    """A real worker, all features on, ready when the block begins and gone after it."""
    with several(stage, [board], types=types, concurrency=concurrency) as workers:
        yield workers[0]


@contextmanager
def several(
    stage: Stage, boards: Sequence[Board], *, types: Sequence[str] = ("noop",), concurrency: int | None = None
) -> Iterator[list[Child]]:
    """As many real workers as boards."""
    before = stage.run(store.count_workers())
    arguments = ["howdah", "worker", _APP, "--schema", stage.catalog.schema, "--grace", "20s"]
    arguments += ["--concurrency", str(concurrency or stage.settings.concurrency)]
    for name in types:
        arguments += ["--type", name]
    workers: list[Child] = []
    try:
        for number, board in enumerate(boards, 1):
            workers.append(Child(stage, arguments, board))
            # One after the other: fifty interpreters that start at once only hinder each other.
            _wait_registered(stage, workers, before + number)
        time.sleep(SETTLE_SECONDS)
        yield workers
    except BaseException:
        for worker in workers:
            worker.kill()
        raise
    for worker in workers:
        worker.process.terminate()
    for worker in workers:
        worker.stop()
    time.sleep(COUNTED_SECONDS)


@contextmanager
def working_barely(stage: Stage, board: Board) -> Iterator[Child]:
    """The floor of a worker, ready when the block begins."""
    with _running(stage, board, "howdah.bench.bare_worker") as child:
        deadline = time.monotonic() + START_SECONDS
        while not board.stamps[0]:
            child.must_live()
            if time.monotonic() > deadline:
                raise BenchFailed(f"the floor's worker did not start within {START_SECONDS:.0f} s")
            time.sleep(0.02)
        yield child


def producing(stage: Stage, board: Board, *arguments: str) -> AbstractContextManager[Child]:
    """A producer process, which stops when the block ends."""
    return _running(stage, board, "howdah.bench.producer", *arguments)


@contextmanager
def _running(stage: Stage, board: Board, module: str, *arguments: str) -> Iterator[Child]:
    child = Child(stage, [module, stage.catalog.schema, *arguments], board)
    try:
        yield child
    except BaseException:
        child.kill()
        raise
    child.stop()


def _wait_registered(stage: Stage, workers: Sequence[Child], wanted: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while stage.run(store.count_workers()) < wanted:
        workers[-1].must_live()
        if time.monotonic() > deadline:
            raise BenchFailed(f"a worker did not start within {START_SECONDS:.0f} s")
        time.sleep(0.02)


def _last_words(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "(it said nothing)"
