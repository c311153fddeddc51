"""A worker on the test's own event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from howdah import Howdah, Worker, WorkerSettings

QUICK = {"silence": timedelta(seconds=2), "poll": timedelta(milliseconds=200), "grace": timedelta(seconds=5)}


@asynccontextmanager
async def working(app: Howdah, **settings: Any) -> AsyncIterator[Worker]:
    """Runs a worker while the block runs, and waits until it has stopped."""
    worker = app.worker(WorkerSettings(**{**QUICK, **settings}))
    task = asyncio.create_task(worker.run())
    ready = asyncio.create_task(worker.ready.wait())
    await asyncio.wait((task, ready), return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        task.result()
    try:
        yield worker
    finally:
        worker.stop()
        await task
        await app.aclose()
