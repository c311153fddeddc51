"""Live updates: one stream of server-sent events per open page.

Panels are rendered once for all who look at them, while anybody does; jobs are followed by the watch, which costs one
reader per process. A viewer that does not read loses messages, never slows others: each message replaces the one
before. A stream ends after ten minutes, and the browser comes back, so that who may look is asked again.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import StreamingResponse

from howdah.model.errors import HowdahError
from howdah.web.desk import Desk

KEEP_ALIVE = 15.0
LONGEST = 600.0
MOST_STREAMS = 200
_WAITING = 64
#: How soon a panel is drawn again, and how soon it is tried again while the database is away.
PANEL_SECONDS = 2.0
LOST_SECONDS = 1.0

Draw = Callable[[], Awaitable[str]]


class Inbox:
    """What one viewer has not read yet."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[str] = asyncio.Queue(_WAITING)
        self.ended = False

    def put(self, event: str, data: Any) -> None:
        """Add a message; when there is no room, the oldest goes."""
        if self._queue.full():
            self._queue.get_nowait()
        self._queue.put_nowait(f"event: {event}\ndata: {json.dumps(data, ensure_ascii=True)}\n\n")

    def end(self) -> None:
        """Let the stream end, whatever it waits for: a server that stops would otherwise have to cut it off."""
        self.ended = True
        self.put("goodbye", {})

    async def get(self, seconds: float) -> str | None:
        """The next message; None: none came in that time."""
        try:
            return await asyncio.wait_for(self._queue.get(), seconds)
        except TimeoutError:
            return None


@dataclass(eq=False)
class Feed:
    """One panel, drawn while anybody looks."""

    name: str
    draw: Draw
    inboxes: set[Inbox] = field(default_factory=set)
    task: asyncio.Task[None] | None = None
    last: str | None = None
    lost: bool = False

    async def run(self) -> None:
        """Draw again and again until nobody looks."""
        while self.inboxes:
            try:
                html = await self.draw()
            except HowdahError:
                self._tell("database", {"lost": True}, unless=self.lost)
                self.lost = True
                await asyncio.sleep(LOST_SECONDS)
                continue
            self._tell("database", {"lost": False}, unless=not self.lost)
            self.lost = False
            self._tell("panel", {"name": self.name, "html": html}, unless=html == self.last)
            self.last = html
            await asyncio.sleep(PANEL_SECONDS)

    def _tell(self, event: str, data: Any, *, unless: bool) -> None:
        if not unless:
            for inbox in self.inboxes:
                inbox.put(event, data)


class Live:
    """All open streams of one dashboard."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._feeds: dict[tuple[int, str, str], Feed] = {}
        self._inboxes: dict[int, set[Inbox]] = {}
        self.streams = 0

    @property
    def is_full(self) -> bool:
        """Whether no further stream can be opened."""
        return self.streams >= MOST_STREAMS

    def stream(
        self, panels: dict[str, Draw], where: str, follow: Callable[[Inbox], Awaitable[None]] | None
    ) -> StreamingResponse:
        """An answer that never ends by itself: these panels, and whatever `follow` puts into the inbox."""
        return StreamingResponse(
            self._messages(panels, where, follow),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-cache, no-store", "X-Accel-Buffering": "no"},
        )

    async def close(self) -> None:
        """End this event loop's streams."""
        for inbox in self._inboxes.get(id(asyncio.get_running_loop()), ()):
            inbox.end()
        tasks = [feed.task for feed in self._feeds.values() if feed.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._feeds.clear()

    async def _messages(
        self, panels: dict[str, Draw], where: str, follow: Callable[[Inbox], Awaitable[None]] | None
    ) -> AsyncIterator[str]:
        inbox = Inbox()
        ends = time.monotonic() + LONGEST
        following = asyncio.create_task(_followed(follow, inbox)) if follow is not None else None
        feeds = [self._join(name, where, draw, inbox) for name, draw in panels.items()]
        here = self._inboxes.setdefault(id(asyncio.get_running_loop()), set())
        here.add(inbox)
        self.streams += 1
        try:
            yield "retry: 2000\nevent: hello\ndata: {}\n\n"
            while time.monotonic() < ends and not inbox.ended:
                yield await inbox.get(KEEP_ALIVE) or ": still here\n\n"
        finally:
            self.streams -= 1
            here.discard(inbox)
            self._leave(feeds, inbox)
            if following is not None:
                following.cancel()

    def _leave(self, feeds: list[Feed], inbox: Inbox) -> None:
        for feed in feeds:
            feed.inboxes.discard(inbox)
        # Its task ends by itself at its next turn.
        self._feeds = {key: feed for key, feed in self._feeds.items() if feed.inboxes or feed not in feeds}

    def _join(self, name: str, where: str, draw: Draw, inbox: Inbox) -> Feed:
        key = (id(asyncio.get_running_loop()), where, name)
        feed = self._feeds.setdefault(key, Feed(name, draw))
        feed.inboxes.add(inbox)
        if feed.lost:
            inbox.put("database", {"lost": True})
        elif feed.last is not None:
            inbox.put("panel", {"name": name, "html": feed.last})
        if feed.task is None or feed.task.done():
            feed.last = None
            feed.task = asyncio.create_task(feed.run())
        return feed


async def _followed(follow: Callable[[Inbox], Awaitable[None]], inbox: Inbox) -> None:
    """Follow jobs; where that cannot even begin because the database is away, try again."""
    while True:
        try:
            await follow(inbox)
            return
        except HowdahError:
            inbox.put("database", {"lost": True})
            await asyncio.sleep(LOST_SECONDS)
