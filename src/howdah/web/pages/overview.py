"""The first page: how the queue does."""

from __future__ import annotations

import asyncio
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from howdah.web.desk import desk_of, user_of
from howdah.web.panels import PANELS, PAYLOAD_PANELS, SPANS, charts, draw, read_lanes
from howdah.web.places import base_of
from howdah.web.rendering import fragment, render


async def overview(request: Request) -> Response:
    """Every panel, each drawn from what was asked for all viewers within the last second."""
    desk, base = desk_of(request), base_of(request)
    asked = {name: request.query_params.get(name, "")[:100] for name in ("span", "queue", "type")}
    span = asked["span"] if asked["span"] in SPANS else next(iter(SPANS))
    queue, job_type = asked["queue"] or None, asked["type"] or None
    charts_name = "" if queue or job_type else f"charts-{span}"
    names = [
        name
        for name in PANELS
        if (user_of(request).payloads or name not in PAYLOAD_PANELS)
        and (not name.startswith("charts-") or name == charts_name)
    ]
    drawn = dict(zip(names, await asyncio.gather(*(draw(desk, name, base) for name in names)), strict=True))
    lanes = (await read_lanes(desk)).value or []
    context = {
        "tab": "overview",
        "drawn": drawn,
        "live": f"panels={','.join(names)}",
        "span": span,
        "spans": list(SPANS),
        "span_query": lambda word: urlencode({**asked, "span": word}),
        "queue": queue,
        "job_type": job_type,
        "queue_names": sorted({lane.queue for lane in lanes}),
        "type_names": sorted({lane.job_type for lane in lanes if lane.job_type is not None}),
        "charts_name": charts_name,
    }
    if not charts_name:
        narrowed = await charts(desk, span, _storable(queue), _storable(job_type))
        context["charts"] = fragment("panels/charts.html", {"base": base, **narrowed})
    return render(request, "overview.html", context)


def _storable(text: str | None) -> str | None:
    """PostgreSQL holds no NUL, so no queue has one in its name."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}") if text is not None else None
