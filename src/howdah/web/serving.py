"""Serves the dashboard by itself, for `howdah ui`."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from howdah.model.errors import OptionError
from howdah.web.application import Dashboard
from howdah.web.door import LinkDoor


async def serve(dashboard: Dashboard, host: str, port: int, prefix: str, say: Callable[[str], None]) -> None:
    """Listen until the process is interrupted. Open pages are told to come back later, not waited for."""
    listening = listen(host, port)
    say(f"open  {link_to(dashboard, listening, prefix)}")
    try:
        await Server(configured(dashboard, prefix), dashboard).serve(sockets=[listening])
    finally:
        await dashboard.aclose()


class Server(uvicorn.Server):
    """Lets open pages go before it waits for them: their streams never end by themselves."""

    def __init__(self, config: uvicorn.Config, dashboard: Dashboard) -> None:
        super().__init__(config)
        self._dashboard = dashboard

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening and end what is under way."""
        await self._dashboard.live.close()
        await super().shutdown(sockets)


class Beside(Server):
    """Serves beside other things in a process that takes its signals itself; `should_exit` ends it."""

    def __init__(self, dashboard: Dashboard) -> None:
        super().__init__(configured(dashboard), dashboard)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave them to the process."""
        yield


def configured(dashboard: Dashboard, prefix: str = "") -> uvicorn.Config:
    """How the dashboard is served, wherever it is."""
    return uvicorn.Config(
        under(prefix, dashboard) if prefix else dashboard,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=1,
        lifespan="off",
        server_header=False,
        # Whatever a proxy says of who asks is not believed here; the host's own auth may look at headers itself.
        proxy_headers=False,
    )


def link_to(dashboard: Dashboard, listening: socket.socket, prefix: str = "") -> str:
    """The link that opens it: where it lets in by links, one that works once."""
    host, port = listening.getsockname()[:2]
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}{prefix}"
    if isinstance(dashboard.door, LinkDoor):
        return f"{address}/login?token={dashboard.door.new_token()}"
    return f"{address}/"


def under(prefix: str, app: ASGIApp) -> ASGIApp:
    """The app below that path, whether a proxy in front takes the path away or leaves it."""

    async def placed(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path = scope["path"]
            whole = path if path == prefix or path.startswith(f"{prefix}/") else prefix + path
            scope = {**scope, "path": whole, "root_path": prefix}
        await app(scope, receive, send)

    return placed


def listen(host: str, port: int) -> socket.socket:
    """A socket of our own, so that a port that is taken is told in one line."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        reason = error.strerror or error
        raise OptionError(f"cannot listen on {host}:{port}: {reason}; choose another with --port, or 0") from error
    return listening
