"""Handlers for child processes: at the top of a module, where a child can find them again."""

from __future__ import annotations

import os
import signal
import time
from datetime import timedelta

from howdah import Howdah, JobContext

app = Howdah("postgresql:///nowhere")


@app.job(process=True)
def in_child(ctx: JobContext, x: int) -> dict[str, int]:
    ctx.progress(50, "half")
    ctx.event("half", {"half": True})
    return {"doubled": 2 * x, "pid": os.getpid()}


@app.job(process=True, timeout=timedelta(milliseconds=300), max_attempts=1)
def never_ends() -> None:
    time.sleep(600)


@app.job(process=True)
def sleeps() -> None:
    time.sleep(600)


@app.job(process=True, max_attempts=10)
def dies() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@app.job(process=True, max_attempts=1)
async def async_in_child(x: int) -> int:
    if x < 0:
        raise ValueError("negative")
    return x + 1
