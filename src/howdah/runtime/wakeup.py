"""A doorbell for one sleeper: rings are remembered until it wakes, and many rings are one."""

from __future__ import annotations

import asyncio


class Wakeup:
    """Wait until rung or until a time has passed, whichever is first."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def ring(self) -> None:
        """Wake the sleeper, now or when it next lies down."""
        self._event.set()

    async def wait(self, seconds: float | None) -> bool:
        """Sleep; True if rung. The ring is used up."""
        if not self._event.is_set():
            try:
                async with asyncio.timeout(seconds):
                    await self._event.wait()
            except TimeoutError:
                return False
        self._event.clear()
        return True
