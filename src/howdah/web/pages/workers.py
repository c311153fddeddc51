"""Workers: who is there, and what each is running."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from howdah.web.desk import desk_of
from howdah.web.panels import draw
from howdah.web.places import base_of
from howdah.web.rendering import render


async def workers(request: Request) -> Response:
    """All workers that were heard of lately."""
    drawn = await draw(desk_of(request), "workers", base_of(request))
    return render(request, "workers.html", {"tab": "workers", "drawn": drawn, "live": "panels=workers"})
