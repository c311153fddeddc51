"""Transactions that hold a snapshot while others work: four forms that applications and operators really have.

read-only  REPEATABLE READ, READ ONLY: a long report
xid        REPEATABLE READ, and it holds a transaction id: a long transaction that has written
enqueued   it has enqueued a job of the very lane that is worked on, and stays open; the job must run once it commits
pg_dump    a dump whose output nobody reads
together   all four at once
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

from howdah.bench import store
from howdah.bench.board import Board
from howdah.bench.draining import PATIENCE_SECONDS
from howdah.bench.floor import fill
from howdah.bench.flowing import PLACES, Beside
from howdah.bench.jobs import noop
from howdah.bench.outcome import BenchFailed
from howdah.bench.settings import PINS, TOGETHER
from howdah.bench.stage import Stage
from howdah.db.connecting import connect
from howdah.db.op import perform
from howdah.embedded.binaries import all_binaries

#: The last place on the board is for the job of a transaction that stays open.
HELD_PLACE = PLACES - 1
#: More than a pipe holds, so that a dump stands still in the midst of it.
_ROWS_TO_DUMP = 5000
_DUMP_SECONDS = 20.0
#: By then it has listed the tables, locked them, and filled the pipe.
_STUCK_SECONDS = 1.0


class CannotPin(Exception):
    """This form cannot be had here; the message says why."""


def held(form: str, stage: Stage, board: Board) -> AbstractContextManager[Beside]:
    """The snapshot is held while the block runs."""
    if form == TOGETHER:
        return _together(stage, board)
    if form == "enqueued":
        return _enqueued(stage, board)
    return _dump(stage) if form == "pg_dump" else _transaction(stage, read_only=form == "read-only")


@contextmanager
def _together(stage: Stage, board: Board) -> Iterator[Beside]:
    beside = Beside()
    with ExitStack() as stack:
        parts = [stack.enter_context(held(form, stage, board)) for form in PINS]
        beside.jobs = sum(part.jobs for part in parts)
        yield beside
    for part in parts:
        beside.troubles.extend(part.troubles)


@contextmanager
def _transaction(stage: Stage, *, read_only: bool) -> Iterator[Beside]:
    with connect(stage.url, "bench pin") as connection:
        perform(connection, stage.catalog, store.hold_settings(read_only=read_only))
        with connection.transaction():
            perform(connection, stage.catalog, store.hold_snapshot())
            if not read_only:
                perform(connection, stage.catalog, store.hold_xid())
            yield Beside()


@contextmanager
def _enqueued(stage: Stage, board: Board) -> Iterator[Beside]:
    beside = Beside(jobs=1)
    with connect(stage.url, "bench pin") as connection, connection.transaction():
        noop.using(conn=connection).enqueue(-1 - HELD_PLACE)
        yield beside
        if board.stamps[HELD_PLACE]:
            beside.troubles.append("a job ran before the transaction that enqueued it committed")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not board.stamps[HELD_PLACE] and time.monotonic() < deadline:
        time.sleep(0.01)
    if not board.stamps[HELD_PLACE]:
        beside.troubles.append("a job whose transaction stayed open for long never ran")


@contextmanager
def _dump(stage: Stage) -> Iterator[Beside]:
    beside = Beside()
    program = _find_program(stage)
    fill(stage, _ROWS_TO_DUMP)
    name = f"howdah bench dump {time.monotonic_ns()}"
    process = subprocess.Popen(
        [program, "--schema", f'"{stage.catalog.schema}"'],
        env={**os.environ, **_connection_variables(stage), "PGAPPNAME": name},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        _wait_stuck(stage, process, name)
        yield beside
        if process.poll() is not None or not stage.run(store.find_dump(name)):
            beside.troubles.append("pg_dump did not hold its snapshot to the end")
    finally:
        process.kill()
        process.communicate()


def _connection_variables(stage: Stage) -> dict[str, str]:
    # Not as arguments: everybody on this machine could read a password there.
    info = stage.connection.info
    found = {
        "HOST": info.host,
        "PORT": info.port,
        "USER": info.user,
        "PASSWORD": info.password,
        "DATABASE": info.dbname,
    }
    return {f"PG{name}": str(value) for name, value in found.items() if value}


def _wait_stuck(stage: Stage, process: subprocess.Popen[bytes], name: str) -> None:
    deadline = time.monotonic() + _DUMP_SECONDS
    since: float | None = None
    while since is None or time.monotonic() < since + _STUCK_SECONDS:
        if process.poll() is not None:
            said = process.communicate()[1].decode(errors="replace").strip().splitlines()
            raise CannotPin(f"pg_dump ended with {process.returncode}: {said[-1] if said else 'without a word'}")
        if time.monotonic() > deadline:
            raise BenchFailed(f"pg_dump did not take its snapshot within {_DUMP_SECONDS:.0f} s")
        if since is None and stage.run(store.find_dump(name)):
            since = time.monotonic()
        time.sleep(0.05)


def _find_program(stage: Stage) -> str:
    major = int(stage.run(store.read_server()).version.split(".")[0])
    for binaries in all_binaries():
        program = binaries.program("pg_dump")
        if binaries.major >= major and program.exists():
            return str(program)
    raise CannotPin(f"no pg_dump of version {major} or newer was found; HOWDAH_PG_BIN names where one is")
