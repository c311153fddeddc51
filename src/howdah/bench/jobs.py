"""The jobs of the bench. Run by `howdah worker howdah.bench.jobs:app`, as any application's are."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

from howdah import Howdah, JobContext
from howdah.bench.board import RAN, RUNNING, STOP, Board

app = Howdah()

QUEUE = "bench"
#: Where a worker finds its board; only the bench's own workers have one.
BOARD_VARIABLE = "HOWDAH_BENCH_BOARD"
#: Lower than that of `noop`: a backlog in the same lane that must not be in the way.
BACKLOG_PRIORITY = 30
REPORT_SECONDS = 0.1

_path = os.environ.get(BOARD_VARIABLE)
_board = Board(Path(_path)) if _path else None
_counts = _board.counts if _board else memoryview(bytearray(1))
_header = _board.header if _board else memoryview(bytearray(64 * 8)).cast("q")


@app.job(queue=QUEUE)
async def noop(n: int, pad: str = "") -> None:
    """Nothing but a mark that it ran: at its number, or below zero with the time at which it started."""
    if n >= 0:
        _counts[n] += 1
        _header[RAN] += 1
    elif _board is not None:
        _board.stamp(-n - 1)


@app.job(queue=QUEUE)
async def report(ctx: JobContext, n: int) -> None:
    """Says ten times a second how far it is, until told to stop."""
    _counts[n] += 1
    _header[RUNNING] += 1
    step = 0
    while not _header[STOP]:
        step += 1
        ctx.progress(min(99, step // 10), stage=f"step {step}")
        await asyncio.sleep(REPORT_SECONDS)
    _header[RAN] += 1


@app.job(queue=QUEUE)
async def other(n: int, pad: str = "") -> None:
    """A type that no worker of the bench serves."""


def arguments(n: int, payload: int) -> dict[str, object]:
    """Arguments of `noop` that take about that many bytes."""
    return {"n": n, "pad": "x" * padding(payload)}


def padding(payload: int) -> int:
    """How long the padding is for arguments of that many bytes."""
    return max(0, payload - len('{"n": 100000, "pad": ""}'))


def _leave_with_the_bench() -> None:
    # A pipe that nobody writes to, and that closes when the bench is gone, even killed.
    while os.read(0, 1):
        pass
    os._exit(1)


if _board is not None:
    threading.Thread(target=_leave_with_the_bench, daemon=True).start()
