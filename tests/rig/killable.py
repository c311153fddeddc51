"""Jobs whose workers get killed, stopped and cut off."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from datetime import timedelta

from howdah import Backoff, Howdah, JobContext

app = Howdah(os.environ.get("HOWDAH_URL", "postgresql:///nowhere"))


def note(*words: object) -> None:
    """One line of the ledger, in one write."""
    line = " ".join(str(word) for word in words) + "\n"
    fd = os.open(os.environ["LEDGER"], os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, line.encode())
    finally:
        os.close(fd)


@app.job()
async def quick(ctx: JobContext, n: int = 0) -> int:
    note("quick", n, ctx.attempt)
    return n


@app.job(max_attempts=100)
async def slow(ctx: JobContext, seconds: float) -> str:
    """Waits on the loop; says which process ran it."""
    note("slow", ctx.job_id, ctx.attempt, os.getpid())
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        note("interrupted", ctx.job_id, ctx.attempt, os.getpid(), "lost" if ctx.lost else "cancelled")
        raise
    note("slept", ctx.job_id, ctx.attempt, os.getpid())
    return str(os.getpid())


@app.job(max_attempts=100)
def late(ctx: JobContext, seconds: float) -> str:
    """Sleeps in a thread and then finishes, whatever happened meanwhile: the late worker's late acknowledgement. The
    second attempt waits until the test lets it go."""
    note("late", ctx.job_id, ctx.attempt, os.getpid())
    if ctx.attempt == 1:
        time.sleep(seconds)
        ctx.progress(77, stage="from the past")
        ctx.event("from-the-past")
    else:
        while not os.path.exists(os.environ["LEDGER"] + ".go"):
            time.sleep(0.05)
    note("late-done", ctx.job_id, ctx.attempt, os.getpid())
    return f"attempt {ctx.attempt}"


@app.job(max_attempts=10, retry=Backoff(base=timedelta(0)))
async def poison() -> None:
    note("poison", os.getpid())
    os.kill(os.getpid(), signal.SIGKILL)


@app.job()
async def innocent(ctx: JobContext, n: int) -> int:
    note("innocent", n, os.getpid())
    await asyncio.sleep(0.02)
    return n


@app.job()
def blocks_its_thread(ctx: JobContext, seconds: float) -> int:
    note("blocks", ctx.attempt)
    time.sleep(seconds)
    return ctx.attempt


@app.job()
async def blocks_the_loop(ctx: JobContext, seconds: float) -> int:
    note("blocks", ctx.attempt)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        pass
    return ctx.attempt
