"""The jobs of the demo. Read it as an example: this is all that an application writes.

Run by `howdah worker howdah.demo.jobs:app`, or by the demo's own workers.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from datetime import timedelta

from howdah import Backoff, Howdah, JobContext, Priority

app = Howdah()

#: Served by one worker, one job at a time, so that the order shows.
LABELS = "labels"
#: Served by one worker only, so that what kills workers harms nobody else.
RISKY = "risky"
FAILURES_OF_THE_SERVICE = 2


@app.job(priority=Priority.EXPLICIT)
async def send_email(to: str) -> str:
    """Quick: a coroutine on the worker's event loop."""
    await asyncio.sleep(0.3)
    return f"sent to {to}"


@app.job()
async def encode_film(ctx: JobContext, title: str) -> str:
    """Long, with stages: nine seconds in which its worker may well be killed."""
    for percent in range(100):
        stage = ("reading", "picture", "sound", "packing")[percent // 25]
        ctx.progress(percent, stage=stage)
        await asyncio.sleep(0.09)
    return f"{title}, attempt {ctx.attempt}"


@app.job()
def resize_photos(ctx: JobContext, count: int) -> dict[str, str]:
    """A plain function: it runs in a thread, and may block as it likes."""
    for done in range(count):
        ctx.progress(100 * done / count, stage=f"photo {done + 1} of {count}")
        time.sleep(0.2)
    return {"thread": threading.current_thread().name}


@app.job(process=True)
def find_primes(ctx: JobContext, below: int) -> dict[str, int]:
    """Busy with arithmetic: in a child process, so that it steals no time from its neighbours."""
    found = 0
    for number in range(2, below):
        if all(number % divisor for divisor in range(2, int(number**0.5) + 1)):
            found += 1
        if number % 1000 == 0:
            ctx.progress(100 * number / below, stage=f"{found} primes")
    return {"primes": found, "process": os.getpid()}


@app.job(retry=Backoff(base=timedelta(seconds=0.8), jitter=False))
async def call_flaky_api(ctx: JobContext) -> str:
    """Raises twice, then succeeds: retried with backoff."""
    ctx.progress(50, stage=f"call {ctx.attempt}")
    await asyncio.sleep(0.4)
    if ctx.attempt <= FAILURES_OF_THE_SERVICE:
        raise ConnectionError("503, try again later")
    return f"200 OK at call {ctx.attempt}"


@app.job()
async def import_catalogue(ctx: JobContext, rows: int) -> None:
    """Would take a minute; somebody cancels it."""
    for row in range(rows):
        ctx.progress(100 * row / rows, stage=f"row {row}")
        await asyncio.sleep(60 / rows)


@app.job()
async def send_reminder(to: str) -> str:
    """Scheduled for later."""
    return f"reminded {to}"


@app.job(queue=LABELS)
async def print_label(urgency: str) -> None:
    """Enqueued lowest priority first; runs highest first."""
    await asyncio.sleep(0.7)


@app.job(queue=RISKY, max_attempts=10)
async def open_bad_file(ctx: JobContext) -> None:
    """Poison: kills the very process that runs it, as a crash in a C library would."""
    ctx.progress(50, stage="about to crash")
    await asyncio.sleep(0.7)
    os.kill(os.getpid(), signal.SIGKILL)
