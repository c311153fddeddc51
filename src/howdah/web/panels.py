"""The panels of the overview: what each asks of the database, and how it is drawn. One question for all viewers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from howdah.admin import store
from howdah.admin.bulk import get as get_operation
from howdah.admin.doctor.examination import examine
from howdah.admin.doctor.finding import Finding, Level
from howdah.admin.filters import JobFilter
from howdah.admin.history.reading import breakdown, series
from howdah.admin.history.store import read_depths as read_queue_depths
from howdah.admin.history.views import By, Depth, History, Share, Work
from howdah.admin.listing import Budget, list_jobs
from howdah.admin.views import JobLine, Lane, Page, StatusCount, WorkerLine
from howdah.model.status import Status
from howdah.web.desk import Desk, Panel
from howdah.web.history_charts import draw_history
from howdah.web.rendering import fragment

#: Ended jobs are counted among the newest so many: an estimate that the page names as one.
COUNT_NEWEST = 10_000
KEPT_SECONDS = 1.0
HEALTH_SECONDS = 60.0
ROWS = 8
#: The page keeps room for so many (pages.css).
RUNNING_ROWS = 6
HELD_READ = 200
#: What a panel that is drawn every other second may search.
QUICK = Budget(look=10_000, seconds=0.05)
SPANS = {"1h": timedelta(hours=1), "24h": timedelta(hours=24), "7d": timedelta(days=7), "30d": timedelta(days=30)}


@dataclass(frozen=True)
class Fleet:
    """Workers, and what they run."""

    workers: list[WorkerLine]
    held: list[JobLine]

    def of(self, worker_id: str) -> list[JobLine]:
        """The jobs that a worker holds, as far as they were read."""
        return [job for job in self.held if job.worker_id == worker_id]


async def read_counts(desk: Desk) -> Panel[dict[Status, StatusCount]]:
    """How many jobs stand where."""
    found: Panel[list[StatusCount]] = await desk.kept(
        "counts", KEPT_SECONDS, lambda: desk.panel(partial(store.count_jobs, newest=COUNT_NEWEST))
    )
    value = None if found.value is None else {count.status: count for count in found.value}
    return Panel(value, found.problem)


async def read_lanes(desk: Desk) -> Panel[list[Lane]]:
    """What waits where."""
    answer: Panel[list[Lane]] = await desk.kept("lanes", KEPT_SECONDS, lambda: desk.panel(store.list_lanes))
    return answer


async def read_held(desk: Desk) -> Panel[Page]:
    """What runs now."""
    wanted = JobFilter(statuses=(Status.CLAIMED, Status.RUNNING))
    answer: Panel[Page] = await desk.kept(
        "held", KEPT_SECONDS, lambda: desk.panel(partial(list_jobs, wanted, None, HELD_READ, QUICK))
    )
    return answer


async def read_workers(desk: Desk) -> Panel[list[WorkerLine]]:
    """Who works."""
    answer: Panel[list[WorkerLine]] = await desk.kept("workers", KEPT_SECONDS, lambda: desk.panel(store.list_workers))
    return answer


async def read_failures(desk: Desk) -> Panel[Page]:
    """What failed lately."""
    wanted = JobFilter(statuses=(Status.FAILED,))
    answer: Panel[Page] = await desk.kept(
        "failures", 2 * KEPT_SECONDS, lambda: desk.panel(partial(list_jobs, wanted, None, ROWS, QUICK))
    )
    return answer


async def read_health(desk: Desk) -> list[Finding] | None:
    """What the doctor says; None: examining for the first time. It has a connection of its own and its own limits."""

    async def ask() -> list[Finding]:
        url = await asyncio.to_thread(desk.app.sessions.url)
        return await asyncio.to_thread(examine, url, desk.app.catalog, "the dashboard's database")

    asked = asyncio.ensure_future(desk.kept("health", HEALTH_SECONDS, ask))
    done, _ = await asyncio.wait({asked}, timeout=0.2)
    if not done:
        # It goes on by itself; whoever looks next finds the answer. Until then the one before stands.
        asked.cancel()
        return desk.health
    desk.health = asked.result()
    return desk.health


async def read_history(
    desk: Desk, span: timedelta, queue: str | None = None, job_type: str | None = None
) -> Panel[History]:
    """Throughput and latencies over time."""
    name = f"history {span} {queue!r} {job_type!r}"
    seconds = KEPT_SECONDS if span <= SPANS["1h"] else 15.0
    answer: Panel[History] = await desk.kept(
        name, seconds, lambda: desk.panel(partial(series, span, queue=queue, job_type=job_type, points=60))
    )
    return answer


async def read_depths(desk: Desk) -> Panel[list[Depth]]:
    """What waits, and for how long."""
    answer: Panel[list[Depth]] = await desk.kept("depths", KEPT_SECONDS, lambda: desk.panel(read_queue_depths))
    return answer


async def read_done(desk: Desk) -> dict[tuple[str | None, str | None], Work]:
    """What was done in the last hour, by queue and type."""
    found: Panel[list[Share]] = await desk.kept(
        "done", 5.0, lambda: desk.panel(partial(breakdown, SPANS["1h"], By.PAIR))
    )
    return {(share.queue, share.job_type): share.work for share in found.value or []}


async def charts(desk: Desk, span: str = "1h", queue: str | None = None, job_type: str | None = None) -> dict[str, Any]:
    """Throughput and latencies, drawn."""
    history = await read_history(desk, SPANS[span], queue, job_type)
    drawn = draw_history(history.value) if history.value is not None else None
    return {"history": history, "drawn": drawn, "span": span, "step": history.value and history.value.step}


async def tiles(desk: Desk) -> dict[str, Any]:
    """The figures at the top."""
    counts, workers, lanes, depths, hour = await asyncio.gather(
        read_counts(desk), read_workers(desk), read_lanes(desk), read_depths(desk), read_history(desk, SPANS["1h"])
    )
    ages = [depth.oldest_seconds for depth in depths.value or [] if depth.oldest_seconds is not None]
    last = hour.value.points[-6:] if hour.value is not None else []
    seconds = sum(point.seconds for point in last)
    return {
        "counts": counts,
        "workers": workers,
        "lanes": lanes,
        "oldest": max(ages, default=None),
        "rate": sum(point.work.completed for point in last) / seconds if seconds else None,
        "failed": sum(point.work.failed for point in hour.value.points) if hour.value is not None else None,
    }


async def running(desk: Desk) -> dict[str, Any]:
    """Jobs at work, with their bars."""
    held = await read_held(desk)
    jobs = [job for job in (held.value.jobs if held.value is not None else []) if job.status is Status.RUNNING]
    return {"held": held, "jobs": jobs[:RUNNING_ROWS], "more": max(0, len(jobs) - RUNNING_ROWS)}


async def queues(desk: Desk) -> dict[str, Any]:
    """Queues and types, short."""
    lanes, done = await asyncio.gather(read_lanes(desk), read_done(desk))
    return {"lanes": lanes, "done": done}


async def workers(desk: Desk) -> dict[str, Any]:
    """Workers and what each is running."""
    found, held = await asyncio.gather(read_workers(desk), read_held(desk))
    return {"workers": found, "fleet": Fleet(found.value or [], held.value.jobs if held.value is not None else [])}


async def failures(desk: Desk) -> dict[str, Any]:
    """The last failures."""
    return {"failures": await read_failures(desk)}


async def health(desk: Desk) -> dict[str, Any]:
    """The doctor's findings, the bad ones first."""
    findings = await read_health(desk)
    rank = {Level.FAIL: 0, Level.WARN: 1, Level.OK: 2}
    return {"findings": None if findings is None else sorted(findings, key=lambda found: rank[found.level])}


PANELS: dict[str, Callable[[Desk], Awaitable[dict[str, Any]]]] = {
    "tiles": tiles,
    **{f"charts-{span}": partial(charts, span=span) for span in SPANS},
    "running": running,
    "queues": queues,
    "workers": workers,
    "failures": failures,
    "health": health,
}
#: Panels that show errors' text, which may quote arguments.
PAYLOAD_PANELS = {"failures"}


async def draw(desk: Desk, name: str, base: str) -> str:
    """One panel as HTML."""
    return fragment(f"panels/{name.partition('-')[0]}.html", {"base": base, **await PANELS[name](desk)})


async def draw_operation(desk: Desk, operation_id: UUID, base: str) -> str:
    """How far a bulk operation has come, as HTML."""
    operation = await desk.look(partial(get_operation, operation_id))
    return fragment("panels/operation.html", {"base": base, "operation": operation})
