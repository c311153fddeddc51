"""A Django project in one file, as its `asgi.py` would be, with the dashboard under /jobs."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.asgi import get_asgi_application
from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

import howdah
from tests.dashboard.hosts.queue import encode, queue, who

settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="only for this test")


@csrf_exempt
async def add_video(request: HttpRequest) -> JsonResponse:
    """A page of the host's own, which enqueues."""
    return JsonResponse({"job": str((await encode.aenqueue(name=str(request.GET["name"]))).id)})


urlpatterns = [path("videos", add_video)]
board = howdah.dashboard(queue, auth=who, redact=["password"])
django = get_asgi_application()


async def web(scope: Any, receive: Any, send: Any) -> None:
    """The dashboard below /jobs, Django for all else."""
    if scope["type"] == "http" and scope["path"].startswith("/jobs/"):
        await board({**scope, "root_path": "/jobs"}, receive, send)
    else:
        await django(scope, receive, send)
