"""A Starlette application with the dashboard two paths down."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

import howdah
from tests.dashboard.hosts.queue import encode, queue, who


async def add_video(request: Request) -> Response:
    """A page of the host's own, which enqueues."""
    return JSONResponse({"job": str((await encode.aenqueue(name=request.query_params["name"])).id)})


board = howdah.dashboard(queue, auth=who, redact=["password"])
web = Starlette(routes=[Route("/videos", add_video, methods=["POST"]), Mount("/staff", routes=[Mount("/jobs", board)])])
