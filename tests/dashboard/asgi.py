"""Calls an ASGI app without a server, byte for byte as asked, and leaves streams after the first few messages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_to_bytes, urlencode


@dataclass
class Answer:
    """What came back."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode(errors="replace")


async def call(app: Any, method: str, target: str, headers: dict[str, str] | None = None, body: bytes = b"") -> Answer:
    """One request. A stream is left as soon as it has begun."""
    answer, gone = Answer(), asyncio.Event()
    scope = scope_of(method, target, headers or {})
    sent = False

    async def receive() -> dict[str, Any]:
        nonlocal sent
        if not sent:
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = {name.decode().lower(): value.decode("latin-1") for name, value in message["headers"]}
            if answer.headers.get("content-type", "").startswith("text/event-stream"):
                gone.set()
        else:
            answer.body += message.get("body", b"")

    await app(scope, receive, send)
    return answer


@asynccontextmanager
async def streaming(app: Any, target: str, headers: dict[str, str]) -> AsyncIterator[Callable[[], Any]]:
    """A stream of server-sent events; the function returns the next one as (event, data)."""
    gone: asyncio.Event = asyncio.Event()
    pieces: asyncio.Queue[str] = asyncio.Queue()
    asked = False

    async def receive() -> dict[str, Any]:
        nonlocal asked
        if not asked:
            asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            assert message["status"] == 200, message
        elif message.get("body"):
            await pieces.put(message["body"].decode())

    async def following() -> tuple[str, str]:
        while True:
            piece = await asyncio.wait_for(pieces.get(), 60)
            lines = dict(line.split(": ", 1) for line in piece.strip().splitlines() if ": " in line)
            if "event" in lines:
                return lines["event"], lines.get("data", "")

    task = asyncio.create_task(app(scope_of("GET", target, headers), receive, send))
    try:
        yield following
    finally:
        gone.set()
        await asyncio.wait_for(task, 60)


def scope_of(method: str, target: str, headers: dict[str, str]) -> dict[str, Any]:
    """As a server makes it of a request line."""
    path, _, query = target.partition("?")
    raw = path.encode("utf-8", errors="replace")
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote_to_bytes(raw).decode("utf-8", errors="replace"),
        "raw_path": raw,
        "root_path": "",
        "query_string": query.encode("utf-8", errors="replace"),
        "headers": [
            (name.lower().encode(), value.encode("latin-1", errors="replace"))
            for name, value in {"host": "127.0.0.1:8800", **headers}.items()
        ],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8800),
    }


class Caller:
    """An operator whose requests go straight into the dashboard: many of them, quickly."""

    token = "t" * 43

    def __init__(self, app: Any, user: str = "olga") -> None:
        self.app = app
        self.headers = {"x-user": user, "cookie": f"howdah_csrf={self.token}", "sec-fetch-site": "same-origin"}

    async def get(self, path: str, params: dict[str, str] | None = None) -> Answer:
        """Fetch an address."""
        query = f"?{urlencode(params)}" if params else ""
        return await call(self.app, "GET", path + query, self.headers)

    async def post(self, path: str, form: dict[str, Any]) -> Answer:
        """Send a form as a page of ours does."""
        body = urlencode({"csrf": self.token, **form}, doseq=True).encode()
        headers = {**self.headers, "content-type": "application/x-www-form-urlencoded"}
        return await call(self.app, "POST", path, headers, body)
