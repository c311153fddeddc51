"""Notifications as an async stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from howdah.db.link import Link
from howdah.db.op import Operation, Statement


async def heard(
    link: Link, probe_seconds: float, on_listening: Callable[[], None], trust: Callable[[bool], None]
) -> AsyncIterator[None]:
    """Yields at each notification. Between them, a probe: a connection that died silently must be noticed.

    `trust` is told whether every notification comes through: not behind a pooler, nor while a setting forbids them."""
    await link.perform(_listen())
    trust(await link.perform(_ping()) and link.direct)
    on_listening()
    while True:
        connection = await link.connection()
        async for _ in connection.notifies(timeout=probe_seconds):
            yield
        trust(await link.perform(_ping()) and link.direct)


def _listen() -> Operation[None]:
    yield Statement("worker/listen")


def _ping() -> Operation[bool]:
    rows = yield Statement("worker/ping")
    return bool(rows[0][0])
