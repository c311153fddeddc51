"""The stream of live updates that a page subscribes to: panels by name, jobs by id."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from uuid import UUID

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from howdah.web.desk import desk_of, user_of
from howdah.web.following import follow_jobs
from howdah.web.live import Draw, Inbox, Live
from howdah.web.panels import PANELS, PAYLOAD_PANELS, draw, draw_operation
from howdah.web.places import base_of

MOST_JOBS = 200


async def live(request: Request) -> Response:
    """Server-sent events."""
    desk, base, user = desk_of(request), base_of(request), user_of(request)
    feeds: Live = request.app.state.live
    if feeds.is_full:
        raise HTTPException(429, "Too many pages are live already; close some.")
    names = [name for name in request.query_params.get("panels", "").split(",") if name]
    unknown = [name for name in names if name not in PANELS]
    if unknown or len(names) > len(PANELS):
        raise HTTPException(400, f"There is no panel {unknown[:1]}.")
    if not user.payloads and PAYLOAD_PANELS.intersection(names):
        raise HTTPException(403, "You may not see what jobs carry.")
    ids = _read_ids(request.query_params.get("jobs", ""))
    follow: Callable[[Inbox], Awaitable[None]] | None = None
    if ids:
        follow = partial(follow_jobs, desk, user, ids, _read_after(request.query_params.get("after")))
    panels: dict[str, Draw] = {name: partial(draw, desk, name, base) for name in names}
    where = base
    for operation_id in _read_ids(request.query_params.get("operation", ""))[:1]:
        panels["operation"] = partial(draw_operation, desk, operation_id, base)
        where = f"{base} {operation_id}"
    return feeds.stream(panels, where, follow)


def _read_ids(text: str) -> list[UUID]:
    try:
        ids = [UUID(part) for part in text.split(",") if part]
    except ValueError:
        raise HTTPException(400, "jobs and operation take ids, apart by commas.") from None
    if len(ids) > MOST_JOBS:
        raise HTTPException(400, f"At most {MOST_JOBS} jobs can be followed at once.")
    return ids


def _read_after(text: str | None) -> int | None:
    """The number of the last event that the page shows; None: it shows none."""
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise HTTPException(400, "after takes the number of an event.")
    return int(text)
