"""The health port: `/healthz` (this process answers), `/readyz` (jobs can be claimed) and `/metrics` (for Prometheus).

A lone worker answers for itself and for the queues. Under a supervisor each worker has a port of its own, which the
system chooses and only this machine reaches; the supervisor asks them all and answers on the port that was given, so
there is one address whatever number of processes there is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from http import HTTPStatus
from typing import Any

import click

from howdah.admin.history.depths import LIMIT, QueueMetrics
from howdah.app import Howdah
from howdah.db.bounded import BoundedSession
from howdah.model.errors import OptionError
from howdah.runtime.small_http import Answer, Route, SmallServer, fetch
from howdah.runtime.threads import ThreadRunner
from howdah.telemetry.exposition import CONTENT_TYPE, merge, render
from howdah.worker.worker import Worker

LOOPBACK = "127.0.0.1"
_ASK_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class HealthPort:
    """Where to listen."""

    host: str
    port: int


class WorkerHealth:
    """What one worker answers. `number`: which of a supervisor's it is; then the queues are not its business."""

    def __init__(self, app: Howdah, number: int | None) -> None:
        self._number = number
        self._queues = None if number is not None else _Queues(app)
        self._worker: Worker | None = None

    def tell(self, worker: Worker) -> None:
        """Who works here."""
        self._worker = worker

    def routes(self) -> dict[str, Route]:
        """Path → answer."""
        return {"/healthz": alive, "/readyz": self._ready, "/metrics": self._metrics}

    def close(self) -> None:
        """Give connections back."""
        if self._queues is not None:
            self._queues.close()

    async def _ready(self) -> Answer:
        return readiness("waiting for the database" if self._worker is None else self._worker.trouble())

    async def _metrics(self) -> Answer:
        own = [] if self._worker is None else self._worker.metrics()
        labels = {} if self._number is None else {"worker": str(self._number)}
        page = render(own, **labels)
        return Answer(page if self._queues is None else page + await self._queues.text(), content_type=CONTENT_TYPE)


class SupervisorHealth:
    """What a supervisor answers for its workers; `ports` has, by number, the health ports of those that sit and are
    ready, and None of the others."""

    def __init__(self, app: Howdah, ports: Callable[[], Mapping[int, int | None]]) -> None:
        self._queues = _Queues(app)
        self._ports = ports

    def routes(self) -> dict[str, Route]:
        """Path → answer."""
        return {"/healthz": alive, "/readyz": self._ready, "/metrics": self._metrics}

    def close(self) -> None:
        """Give connections back."""
        self._queues.close()

    async def _ready(self) -> Answer:
        answers = await self._ask("/readyz")
        troubles = [
            f"worker {number}: {'starting' if answer is None else answer.body.strip()}"
            for number, answer in answers.items()
            if answer is None or answer.status is not HTTPStatus.OK
        ]
        return readiness("; ".join(troubles) or None if answers else "stopping")

    async def _metrics(self) -> Answer:
        answers, queues = await asyncio.gather(self._ask("/metrics"), self._queues.text())
        pages = [answer.body for answer in answers.values() if answer is not None]
        return Answer(merge(pages) + queues, content_type=CONTENT_TYPE)

    async def _ask(self, path: str) -> dict[int, Answer | None]:
        ports = self._ports()
        found = await asyncio.gather(*(_fetched(port, path) for port in ports.values()))
        return dict(zip(ports, found, strict=True))


class _Queues:
    """The queues' part of the page, read in a thread that never keeps the process alive."""

    def __init__(self, app: Howdah) -> None:
        self._metrics = QueueMetrics(lambda: BoundedSession(app.sessions.url(), app.catalog, "metrics", LIMIT))
        self._threads = ThreadRunner("howdah-metrics")

    async def text(self) -> str:
        text: str = await self._threads.submit(self._metrics.text)
        return text

    def close(self) -> None:
        self._metrics.close()


async def serve_health(
    place: HealthPort | None, routes: Mapping[str, Route], tell: Callable[[int], None]
) -> SmallServer | None:
    """Listen there, if anywhere, and tell the port; or say why that is not possible."""
    if place is None:
        return None
    server = SmallServer(routes)
    try:
        port = await server.start(place.host, place.port)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OptionError(
            f"cannot listen on {place.host} port {place.port}: {reason}; give another --health-port or --health-host"
        ) from error
    tell(port)
    return server


async def alive() -> Answer:
    """That it answers is the answer."""
    return Answer("ok\n")


def readiness(trouble: str | None) -> Answer:
    """200, or 503 and why."""
    return Answer("ready\n") if trouble is None else Answer(f"{trouble}\n", HTTPStatus.SERVICE_UNAVAILABLE)


def _fetched(port: int | None, path: str) -> Awaitable[Answer | None]:
    return _nothing() if port is None else fetch(port, path, _ASK_SECONDS)


async def _nothing() -> None:
    return None


def health_options(command: Callable[..., int]) -> Callable[..., int]:
    """--health-port and --health-host, as one argument `health_port`."""

    @click.option("--health-port", type=int, metavar="PORT", help="Answer /healthz, /readyz and /metrics there.")
    @click.option("--health-host", metavar="HOST", help="Where to listen for that.  [default: 127.0.0.1]")
    @wraps(command)
    def taking(*args: Any, health_port: int | None, health_host: str | None, **others: Any) -> int:
        return command(*args, health_port=check_port(health_port, health_host), **others)

    return taking


def check_port(port: int | None, host: str | None) -> HealthPort | None:
    """The options as a place to listen, if any was given."""
    if port is None:
        if host is not None:
            raise OptionError("--health-host needs --health-port")
        return None
    if not 0 <= port <= 65535:
        raise OptionError(f"--health-port {port}: a port is a number from 0 (any that is free) to 65535")
    return HealthPort(host or LOOPBACK, port)
