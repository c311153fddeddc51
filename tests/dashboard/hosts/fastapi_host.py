"""A FastAPI application with the dashboard under /jobs."""

from __future__ import annotations

from fastapi import FastAPI

import howdah
from tests.dashboard.hosts.queue import encode, queue, who

web = FastAPI()


@web.post("/videos")
async def add_video(name: str) -> dict[str, str]:
    """A page of the host's own, which enqueues."""
    return {"job": str((await encode.aenqueue(name=name)).id)}


web.mount("/jobs", howdah.dashboard(queue, auth=who, redact=["password"]))
