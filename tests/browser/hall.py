"""A host application with the dashboard mounted in it, on a real port, and a worker whose handlers do what the test
says when it says it. Both run on an event loop in a thread of their own."""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from datetime import timedelta
from typing import Any
from uuid import UUID

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Mount

from howdah import Cancel, Fail, Howdah, Job, JobContext, User, WorkerSettings
from howdah.web.application import Dashboard
from howdah.web.serving import listen
from howdah.web.settings import read_settings
from tests.dashboard.visiting import USERS
from tests.rig.working import working

PREFIX = "/ops"


def by_cookie(request: Request) -> User | None:
    """The host application's auth, as far as these tests are concerned."""
    return USERS.get(request.cookies.get("who", "olga"))


class Hall:
    """`address` is that of the dashboard."""

    def __init__(self, app: Howdah) -> None:
        self.app = app
        self._orders: defaultdict[UUID, asyncio.Queue[tuple[Any, ...]]] = defaultdict(asyncio.Queue)
        self._open = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="hall", daemon=True)
        self._problem: BaseException | None = None
        self.handlers = {name: self._handler(name) for name in ("encode", "thumbnail", "import_catalog")}

    def start(self) -> Hall:
        self._thread.start()
        self._open.wait(60)
        if self._problem is not None:
            raise self._problem
        return self

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(60)
        assert not self._thread.is_alive(), "the host application does not stop"

    def enqueue(self, name: str, **arguments: Any) -> Job[Any]:
        job: Job[Any] = self.handlers[name].enqueue(**arguments)
        return job

    def tell(self, job: Job[Any], *order: Any) -> None:
        """("progress", 40, "stage"), ("event", "name", {…}), ("return", value), ("fail", "why")."""
        self._loop.call_soon_threadsafe(lambda: self._orders[job.id].put_nowait(order))

    def _handler(self, name: str) -> Any:
        @self.app.job(name=name, queue="media" if name != "import_catalog" else "default")
        async def handle(ctx: JobContext, video: int = 0, preset: str = "hd") -> Any:
            while True:
                match await self._orders[ctx.job_id].get():
                    case ("progress", percent, stage):
                        ctx.progress(percent, stage=stage)
                    case ("event", event, data):
                        ctx.event(event, data)
                    case ("return", value):
                        return value
                    case ("fail", why):
                        raise Fail(why)
                    case ("cancel", why):
                        raise Cancel(why)

        return handle

    async def _run(self) -> None:
        self._loop, self._closing = asyncio.get_running_loop(), asyncio.Event()
        dashboard = Dashboard(self.app, read_settings(by_cookie, False, (), "Howdah"))
        host = Starlette(routes=[Mount(PREFIX, dashboard)])
        config = uvicorn.Config(host, log_level="warning", lifespan="off", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        try:
            listening = listen("127.0.0.1", 0)
            self.address = f"http://127.0.0.1:{listening.getsockname()[1]}{PREFIX}"
            # What still runs when a test module ends is released at once.
            settings = {"silence": WorkerSettings().silence, "grace": timedelta(0), "name": "media-1"}
            async with working(self.app, **settings):
                serving = asyncio.create_task(server.serve(sockets=[listening]))
                self._open.set()
                await self._closing.wait()
                # Open pages go first: a server that stops would otherwise have to cut them off.
                await dashboard.live.close()
                server.should_exit = True
                await serving
                await dashboard.aclose()
        except BaseException as error:
            self._problem = error
            self._open.set()
            raise
