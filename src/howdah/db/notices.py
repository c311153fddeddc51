"""Notifications as an async stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from howdah.db.link import Link
from howdah.db.op import Operation, Statement


async def heard(link: Link, probe_seconds: float, on_listening: Callable[[], None]) -> AsyncIterator[None]:
    """Yields at each notification. Between them, a probe: a connection that died silently must be noticed."""
    await link.perform(_say("worker/listen"))
    on_listening()
    while True:
        connection = await link.connection()
        async for _ in connection.notifies(timeout=probe_seconds):
            yield
        await link.perform(_say("worker/ping"))


def _say(name: str) -> Operation[None]:
    yield Statement(name)
