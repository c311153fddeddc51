"""Queues and types: what waits, how old it is, and whether it may be started."""

from __future__ import annotations

import asyncio
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from howdah.admin.filter_text import render_filter
from howdah.admin.filters import JobFilter
from howdah.admin.order_store import set_pause as set_pause_on_record
from howdah.admin.views import Lane, PauseKind
from howdah.model.errors import OptionError
from howdah.model.options import check_name
from howdah.web.desk import desk_of, user_of
from howdah.web.guard import Form, first
from howdah.web.panels import read_depths, read_done, read_lanes
from howdah.web.places import back_to
from howdah.web.rendering import render


async def queues(request: Request) -> Response:
    """All queues and types."""
    desk = desk_of(request)
    lanes, depths, done = await asyncio.gather(read_lanes(desk), read_depths(desk), read_done(desk))
    context = {
        "tab": "queues",
        "lanes": lanes,
        "oldest": {(depth.queue, depth.job_type): depth.oldest_seconds for depth in depths.value or []},
        "done": done,
        "lane_query": _query,
        "poll": 3,
    }
    return render(request, "queues.html", context)


async def set_pause(request: Request, form: Form) -> Response:
    """Pause or resume a queue or a type."""
    verb = request.path_params["verb"]
    if verb not in ("pause", "resume"):
        raise HTTPException(404)
    try:
        kind = PauseKind(first(form, "kind"))
        name = check_name("queue" if kind is PauseKind.QUEUE else "job type", first(form, "name"))
    except OptionError as error:
        raise HTTPException(400, str(error)) from None
    except ValueError:
        raise HTTPException(400, "kind is queue or type") from None
    who = user_of(request).name
    changed = await desk_of(request).change(partial(set_pause_on_record, kind, name, verb == "pause", who))
    desk_of(request).forget("lanes")
    done = f"{verb}d" if changed else "unchanged"
    return RedirectResponse(back_to(request, first(form, "back", "/queues"), done), 303)


def _query(lane: Lane) -> str:
    return render_filter(JobFilter(queue=lane.queue, job_type=lane.job_type))
