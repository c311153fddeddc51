"""Watching over every route: the newest server, the oldest, and through a pooler where no bell is heard."""

from __future__ import annotations

import asyncio

from howdah import Howdah, JobContext, Status
from tests.rig.working import working


async def test_a_job_is_told_to_its_end(app: Howdah) -> None:
    seen = asyncio.Event()

    @app.job()
    async def encode(ctx: JobContext) -> None:
        ctx.progress(50, stage="half")
        ctx.event("begun")
        await seen.wait()
        ctx.event("done")

    async with working(app):
        by_filter = app.watch(job_types="encode", timeout=30)
        first = asyncio.ensure_future(anext(by_filter))
        job = await encode.aenqueue()
        told = []
        async for update in job.watch(timeout=30):
            told.append(update)
            if update.stage == "half":
                seen.set()
        assert [event.name for update in told for event in update.events] == ["begun", "done"]
        assert told[-1].status is Status.COMPLETED
        others = [await first]
        while not others[-1].finished:
            others.append(await anext(by_filter))
        assert [event.name for update in others for event in update.events] == ["begun", "done"]
