"""The two ways to run a handler in this process: on the event loop, and in a thread."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import Any

from howdah.model.handler import Handler
from howdah.runtime.threads import ThreadRunner
from howdah.worker.executor import Abandoned, TimedOut, result_text
from howdah.worker.held import Held, Stop

_Arguments = tuple[tuple[object, ...], dict[str, object]]


class LoopRunner:
    """`async def` handlers: interrupted by cancelling their task."""

    async def run(self, handler: Handler, held: Held, arguments: _Arguments) -> str | None:
        """Await the handler, within its timeout."""
        held.interrupt = held.cancel_task
        if held.stop is not None:
            raise asyncio.CancelledError
        held.started = time.monotonic()
        try:
            if handler.timeout is None:
                value = await _call(handler, held, arguments)
            else:
                value = await self._within_timeout(handler.timeout, _call(handler, held, arguments))
        finally:
            held.interrupt = None
        return None if value is None else result_text(handler.name, value)

    async def _within_timeout(self, timeout: timedelta, awaitable: Any) -> Any:
        limit = asyncio.timeout(timeout.total_seconds())
        try:
            async with limit:
                return await awaitable
        except TimeoutError as error:
            if limit.expired():
                raise TimedOut(timeout) from error
            raise


class ThreadedRunner:
    """Plain `def` handlers. A thread cannot be stopped: a job whose time is up is reported and lost to it, while the
    thread keeps its slot until it returns; a cancelled one is told through its context."""

    def __init__(self) -> None:
        self._threads = ThreadRunner("howdah-job")

    async def run(self, handler: Handler, held: Held, arguments: _Arguments) -> str | None:
        """Wait for the handler's thread, within its timeout."""
        left = asyncio.get_running_loop().create_future()
        held.interrupt = lambda: _leave(held, left)
        if held.stop is not None:
            raise asyncio.CancelledError
        held.started = time.monotonic()
        if handler.signature.takes_context:
            # Made here: the thread may only use it.
            _ = held.context
        future = self._threads.submit(lambda: result_text(handler.name, _call(handler, held, arguments)))
        timeout = None if handler.timeout is None else handler.timeout.total_seconds()
        await asyncio.wait((future, left), timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        held.interrupt = None
        if future.done():
            text: str | None = future.result()
            return text
        future.add_done_callback(_ignore_outcome)
        if left.done():
            raise Abandoned
        held.context.mark_lost()
        assert handler.timeout is not None, "only a timeout ends the wait otherwise"
        raise TimedOut(handler.timeout, lingering=future)


def _leave(held: Held, left: asyncio.Future[None]) -> None:
    if held.stop is Stop.SHUTDOWN and not left.done():
        left.set_result(None)


def _ignore_outcome(future: asyncio.Future[Any]) -> None:
    # Whatever a thread that was given up on returns or raises, nobody wants it; reading it keeps asyncio quiet.
    if not future.cancelled():
        future.exception()


def _call(handler: Handler, held: Held, arguments: _Arguments) -> Any:
    args, kwargs = arguments
    if handler.signature.takes_context:
        return handler.function(held.context, *args, **kwargs)
    return handler.function(*args, **kwargs)
