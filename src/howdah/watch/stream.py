"""What `watch` returns: updates one by one, for a `for` loop and for an `async for` loop alike."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from howdah.model.errors import OptionError, WaitTimeout, shown
from howdah.model.update import Update
from howdah.watch.hub import Hub
from howdah.watch.selection import Selection
from howdah.watch.subscription import ByFilter, ById, Subscription

#: Seconds; longer than any process lives.
_LONGEST_WAIT = 1e9


class Watch:
    """Updates of the jobs that are watched, as they happen: `for update in watch` in a thread, `async for update in
    watch` on an event loop. Begins with how each job stands; ends when all the jobs that were named have ended. One
    consumer at a time. Leaving the loop ends the watch, and so do `close()` and a `with` block."""

    _joined = False

    def __init__(
        self,
        hub: Hub,
        selection: Selection,
        *,
        after: int = 0,
        timeout: float | None = None,
        opened: Callable[[Update], Update] = lambda update: update,
    ) -> None:
        if timeout is not None and (not isinstance(timeout, int | float) or timeout != timeout):
            raise OptionError(f"watch takes its timeout in seconds, not {shown(timeout)}")
        if isinstance(after, bool) or not isinstance(after, int) or not 0 <= after < 2**31:
            raise OptionError(f"after is the number of an event, 0 or more, not {shown(after)}")
        self._hub = hub
        self._opened = opened
        self._timeout = timeout
        # Bounded: an endless whole number is no float.
        self._seconds = None if timeout is None else max(0.0, min(timeout, _LONGEST_WAIT))
        self._deadline: float | None = None
        began = time.monotonic()
        self._subscription: Subscription = (
            ById(selection, began, hub.wake, after) if selection.ids else ByFilter(selection, began, hub.wake)
        )
        self._closed = False

    @property
    def lost(self) -> bool:
        """Whether the database is away just now; the watch goes on by itself when it is back, and misses nothing."""
        return self._hub.lost

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Update:
        if not self._joined and not self._closed:
            self._begin()
            self._hub.join(self._subscription)
        while True:
            update = self._take(StopIteration)
            if update is not None:
                return update
            left = self._left()
            self._subscription.mailbox.wait(left)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Update:
        if not self._joined and not self._closed:
            self._begin()
            await asyncio.to_thread(self._hub.join, self._subscription)
        loop = asyncio.get_running_loop()
        while True:
            update = self._take(StopAsyncIteration)
            if update is not None:
                return update
            left = self._left()
            changed = loop.create_future()
            self._subscription.mailbox.call_when_changed(_waker(loop, changed))
            await asyncio.wait((changed,), timeout=left)

    def close(self) -> None:
        """End the watch. The jobs go on."""
        self._closed = True
        self._hub.leave(self._subscription)
        self._subscription.mailbox.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # A loop that was left by `break`: nobody will ask any more.
        if self._joined:
            self._hub.leave(self._subscription)

    def _begin(self) -> None:
        self._joined = True
        if self._seconds is not None:
            self._deadline = time.monotonic() + self._seconds

    def _take(self, end: type[Exception]) -> Update | None:
        if self._closed:
            raise end
        try:
            update = self._subscription.mailbox.take()
            return None if update is None else self._opened(update)
        except StopIteration:
            self.close()
            raise end from None
        except BaseException:
            self.close()
            raise

    def _left(self) -> float | None:
        if self._deadline is None:
            return None
        left = self._deadline - time.monotonic()
        if left <= 0:
            self.close()
            raise WaitTimeout(f"what was watched did not end within {shown(self._timeout)} s; it goes on")
        return left


def _waker(loop: asyncio.AbstractEventLoop, changed: asyncio.Future[None]) -> Callable[[], None]:
    def settle() -> None:
        if not changed.done():
            changed.set_result(None)

    def wake() -> None:
        # A loop that has closed took its watcher along.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle)

    return wake
