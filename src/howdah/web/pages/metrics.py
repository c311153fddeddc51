"""Prometheus' page: what waits, by queue and type. Behind the same door as every other page."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from howdah.admin.history.views import Depth
from howdah.model.errors import HowdahError
from howdah.telemetry.exposition import CONTENT_TYPE
from howdah.telemetry.exposition import render as expose
from howdah.telemetry.families import queue_families
from howdah.web.desk import desk_of
from howdah.web.panels import read_depths


async def metrics(request: Request) -> Response:
    """The gauges of the queues; while the database is away, that it is."""
    depths: list[Depth] | None
    try:
        depths = (await read_depths(desk_of(request))).value
    except HowdahError:
        depths = None
    rows = None if depths is None else [_row(depth) for depth in depths]
    return Response(expose(queue_families(rows)), media_type=CONTENT_TYPE)


def _row(depth: Depth) -> tuple[str, str, int, int, float | None, bool]:
    return (depth.queue, depth.job_type, depth.ready, depth.scheduled, depth.oldest_seconds, depth.paused)
