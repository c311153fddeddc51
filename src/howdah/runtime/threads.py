"""Runs functions in threads that never keep the process alive.

`concurrent.futures` joins its threads at exit, so one stuck function would hang a stopping worker for ever; these are
daemons. A thread is reused while work comes, and there are never more than callers admit at once.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Any


class ThreadRunner:
    """Daemon threads, made when none is idle."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._work: queue.SimpleQueue[tuple[Callable[[], Any], asyncio.Future[Any]] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        self._made = 0

    def submit(self, function: Callable[[], Any]) -> asyncio.Future[Any]:
        """Run it in a thread, with the caller's context variables; the future belongs to the running loop."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        context = contextvars.copy_context()
        with self._lock:
            if self._idle:
                self._idle -= 1
            else:
                self._made += 1
                threading.Thread(target=self._run, name=f"{self._name}-{self._made}", daemon=True).start()
        self._work.put((lambda: context.run(function), future))
        return future

    def _run(self) -> None:
        while (item := self._work.get()) is not None:
            function, future = item
            value: Any = None
            error: BaseException | None = None
            try:
                value = function()
            except BaseException as raised:  # even SystemExit: it ends the function, not the worker
                error = raised
            with self._lock:
                self._idle += 1
            try:
                future.get_loop().call_soon_threadsafe(_settle, future, value, error)
            except RuntimeError:
                return  # the loop has closed: the worker has gone, and nobody waits for this
            del item, function, future, value, error


def _settle(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if future.cancelled():
        return
    if error is None:
        future.set_result(value)
    elif isinstance(error, StopIteration):
        # A future refuses StopIteration; wrap it as generators do.
        wrapped = RuntimeError("the function raised StopIteration")
        wrapped.__cause__ = error
        future.set_exception(wrapped)
    else:
        future.set_exception(error)
