"""The jobs that are tortured. Each writes into the ledger that it starts and how it ends, and returns who ran it, so
that the completion in the database can be held against the claim it belongs to."""

from __future__ import annotations

import asyncio
import os
import select
import signal
from datetime import timedelta
from functools import cache
from pathlib import Path

from howdah import Backoff, Howdah, JobContext
from torture.ledger import Pen

app = Howdah()

#: The folder of the run, and the name of this worker process in it.
FOLDER_VARIABLE = "TORTURE_FOLDER"
WORKER_VARIABLE = "TORTURE_WORKER"
ATTEMPTS = 60
_SOON = Backoff(base=timedelta(milliseconds=50), longest=timedelta(milliseconds=200))


@cache
def _pen() -> Pen:
    return Pen(Path(os.environ[FOLDER_VARIABLE]) / f"{os.environ[WORKER_VARIABLE]}.ledger")


def _who(ctx: JobContext) -> dict[str, object]:
    return {"worker": os.environ.get(WORKER_VARIABLE, "?"), "attempt": ctx.attempt}


def _start(ctx: JobContext, token: int) -> tuple[object, ...]:
    return "start", str(ctx.job_id), token, ctx.attempt, ctx.job_type


def _end(ctx: JobContext, token: int, how: str) -> tuple[object, ...]:
    return "end", str(ctx.job_id), token, ctx.attempt, how


async def _note(line: tuple[object, ...]) -> None:
    await _pen().awrite(str(line[0]), *line[1:])


def _note_at_once(line: tuple[object, ...]) -> None:
    _pen().write(str(line[0]), *line[1:])


@app.job(max_attempts=ATTEMPTS, retry=_SOON)
async def quick(ctx: JobContext, token: int, seconds: float) -> dict[str, object]:
    """On the event loop, without a wait worth mentioning."""
    await _note(_start(ctx, token))
    await _note(_end(ctx, token, "done"))
    return _who(ctx)


@app.job(max_attempts=ATTEMPTS, retry=_SOON)
async def wait(ctx: JobContext, token: int, seconds: float) -> dict[str, object]:
    """On the event loop, can be interrupted."""
    try:
        await _note(_start(ctx, token))
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        _note_at_once(_end(ctx, token, "lost" if ctx.lost else "interrupted"))
        raise
    await _note(_end(ctx, token, "done"))
    return _who(ctx)


@app.job(max_attempts=ATTEMPTS, retry=_SOON)
def block(ctx: JobContext, token: int, seconds: float) -> dict[str, object]:
    """In a thread, and finishes whatever happened meanwhile: where late acknowledgements come from."""
    _note_at_once(_start(ctx, token))
    # Not time.sleep: in a process whose clock libfaketime has put back it raises.
    select.select([], [], [], seconds)
    _note_at_once(_end(ctx, token, "done"))
    return _who(ctx)


@app.job(max_attempts=ATTEMPTS, retry=_SOON)
async def walk(ctx: JobContext, token: int, seconds: float) -> dict[str, object]:
    """Reports as it goes."""
    try:
        await _note(_start(ctx, token))
        for step in range(1, 11):
            ctx.progress(step * 10, stage=f"step {step}")
            await asyncio.sleep(seconds / 10)
    except asyncio.CancelledError:
        _note_at_once(_end(ctx, token, "lost" if ctx.lost else "interrupted"))
        raise
    await _note(_end(ctx, token, "done"))
    return _who(ctx)


@app.job(max_attempts=ATTEMPTS, retry=_SOON)
async def flaky(ctx: JobContext, token: int, seconds: float) -> dict[str, object]:
    """Raises on its first attempt, with text that no table can hold as it is."""
    await _note(_start(ctx, token))
    if ctx.attempt == 1:
        await _note(_end(ctx, token, "raised"))
        raise ValueError("no luck \x00 \ud800 this time")
    await _note(_end(ctx, token, "done"))
    return _who(ctx)


@app.job(max_attempts=ATTEMPTS, retry=_SOON)
async def poison(ctx: JobContext, token: int, seconds: float) -> None:
    """Kills its worker."""
    _note_at_once(_start(ctx, token))
    os.kill(os.getpid(), signal.SIGKILL)


#: Kind, share of all jobs, and how long it takes at most.
MIX = ((quick, 0.45, 0.0), (wait, 0.2, 0.4), (block, 0.15, 0.5), (walk, 0.1, 1.0), (flaky, 0.1, 0.0))
