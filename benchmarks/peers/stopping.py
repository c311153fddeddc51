"""How an asyncio worker is run here: on uvloop, until SIGTERM."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any

import uvloop

Body = Callable[[asyncio.Event], Coroutine[Any, Any, None]]


def run_until_sigterm(body: Body) -> None:
    """`body` gets an event that is set on SIGTERM, and returns after it."""

    async def main() -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        await body(stop)

    uvloop.run(main())
