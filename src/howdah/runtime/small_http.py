"""A server for probes: GET of a few paths, one answer per connection, and nothing that a stranger could keep busy. And
the client that a supervisor needs to ask its workers.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

_HEAD_LIMIT = 8192
#: For a request to arrive, and for its answer.
_SECONDS = 5.0
_ANSWER_SECONDS = 10.0
#: More at once are turned away: no prober needs them.
_MOST_CONNECTIONS = 32
PLAIN = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a path says."""

    body: str
    status: HTTPStatus = HTTPStatus.OK
    content_type: str = PLAIN


Route = Callable[[], Awaitable[Answer]]


class SmallServer:
    """Serves these paths until closed."""

    def __init__(self, routes: Mapping[str, Route]) -> None:
        self._routes = routes
        self._server: asyncio.Server | None = None
        self._open = 0

    async def start(self, host: str, port: int) -> int:
        """Listen; the port, which was chosen if 0 was asked for. OSError where it cannot."""
        self._server = await asyncio.start_server(self._connected, host, port, limit=_HEAD_LIMIT)
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Listen no more; answers under way are cut off."""
        if self._server is not None:
            self._server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        # Whoever is slow, or leaves, is nobody's concern here.
        with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
            try:
                if self._open <= _MOST_CONNECTIONS:
                    async with asyncio.timeout(_SECONDS + _ANSWER_SECONDS):
                        method, answer = await self._read(reader)
                        writer.write(_written(answer, with_body=method != "HEAD"))
                        await writer.drain()
            finally:
                self._open -= 1
                writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> tuple[str, Answer]:
        try:
            async with asyncio.timeout(_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            return "", Answer("too long\n", HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/"):
            return "", Answer("this is no HTTP request\n", HTTPStatus.BAD_REQUEST)
        method, target, _ = words
        route = self._routes.get(target.partition("?")[0])
        if route is None:
            return method, Answer(f"there are: {', '.join(self._routes)}\n", HTTPStatus.NOT_FOUND)
        if method not in ("GET", "HEAD"):
            return method, Answer("only GET\n", HTTPStatus.METHOD_NOT_ALLOWED)
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                return method, await route()
        except TimeoutError:
            return method, Answer("it takes too long to find out\n", HTTPStatus.SERVICE_UNAVAILABLE)


def _written(answer: Answer, *, with_body: bool) -> bytes:
    body = answer.body.encode()
    head = (
        f"HTTP/1.1 {answer.status.value} {answer.status.phrase}\r\nContent-Type: {answer.content_type}\r\n"
        f"Content-Length: {len(body)}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + (body if with_body else b"")


async def fetch(port: int, path: str, seconds: float) -> Answer | None:
    """Ask a server on this machine; None: no answer in time."""
    try:
        async with asyncio.timeout(seconds):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                head, _, body = (await reader.read(-1)).partition(b"\r\n\r\n")
            finally:
                writer.close()
        return Answer(body.decode(), HTTPStatus(int(head.split(b" ", 2)[1])))
    except (OSError, TimeoutError, ValueError, IndexError):
        return None
