"""What every page works with: the app it shows, its settings, its own few connections, and answers kept for a moment
so that ten viewers cost as much as one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar

from starlette.requests import Request

from howdah.admin.doctor.finding import Finding
from howdah.app import Howdah
from howdah.client.client import Client
from howdah.db.bounded_pool import BoundedPool
from howdah.db.op import Operation
from howdah.model.errors import TookTooLong
from howdah.web.access import User
from howdah.web.errands import Errands
from howdah.web.settings import Settings

T = TypeVar("T")
MOST_KEPT = 100


@dataclass(frozen=True, slots=True)
class Panel(Generic[T]):
    """A part of a page, or why it is missing: each fails alone."""

    value: T | None
    problem: str | None = None


class Desk:
    """Resources of one dashboard, opened at the first use: a mounted app is not told when its host starts."""

    def __init__(self, app: Howdah, settings: Settings) -> None:
        self.app = app
        self.settings = settings
        self.pool = BoundedPool(app.sessions, "dashboard", settings.connections)
        self.client = Client(app.sessions, app.keyring)
        self.errands = Errands(app.sessions)
        #: What the doctor said last.
        self.health: list[Finding] | None = None
        self._kept: dict[str, tuple[float, asyncio.Task[Any]]] = {}

    async def look(self, make: Callable[[], Operation[T]], limit: timedelta | None = None) -> T:
        """Read something, within a panel's time."""
        return await self.pool.look(make, limit or self.settings.panel_time)

    async def change(self, make: Callable[[], Operation[T]]) -> T:
        """Write something."""
        return await self.pool.change(make, self.settings.change_time)

    async def panel(self, make: Callable[[], Operation[T]], limit: timedelta | None = None) -> Panel[T]:
        """Read something that the page can do without."""
        limit = limit or self.settings.panel_time
        try:
            return Panel(await self.pool.look(make, limit))
        except TookTooLong:
            return Panel(None, f"not shown: it took the database longer than {limit.total_seconds():g} s")

    async def kept(self, name: str, seconds: float, ask: Callable[[], Any]) -> Any:
        """The answer to `ask()`, asked again only when it is older than that; those who come meanwhile share it."""
        loop = asyncio.get_running_loop()
        asked, task = self._kept.get(name, (0.0, None))
        fresh = task is not None and task.get_loop() is loop and time.monotonic() - asked < seconds
        if task is None or not fresh or (task.done() and (task.cancelled() or task.exception() is not None)):
            self._forget_old()
            task = loop.create_task(ask())
            self._kept[name] = (time.monotonic(), task)
        # A viewer who goes away must not take the answer from the others.
        return await asyncio.shield(task)

    def _forget_old(self) -> None:
        """Some names are made of what people ask for, and they may ask for anything."""
        while len(self._kept) >= MOST_KEPT:
            self._kept.pop(min(self._kept, key=lambda name: self._kept[name][0]))

    def forget(self, name: str) -> None:
        """Ask anew next time: it was changed from here, and the next page must show that."""
        self._kept.pop(name, None)

    async def close(self) -> None:
        """Give back the connections."""
        await self.errands.stop()
        await asyncio.to_thread(self.client.close)
        await self.pool.close()


def desk_of(request: Request) -> Desk:
    """The desk behind a request."""
    desk: Desk = request.app.state.desk
    return desk


def user_of(request: Request) -> User:
    """Who asks; the door has let them in."""
    user: User = request.state.user
    return user
