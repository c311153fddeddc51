"""When to tell watchers that something was written: at once, but not more often than they would look, and only while
there are any. Whether there are is asked together with the telling, and while there are none about once a second, if
anything was written at all: a queue that nobody watches pays for no more than that."""

from __future__ import annotations

import threading
import time

#: How often to ask whether anybody watches.
ASK_SECONDS = 0.8
#: The shortest time between two rings.
RING_SECONDS = 0.05


class Teller:
    """Remembers that there is something to tell. `note` may be called from any thread."""

    def __init__(self) -> None:
        self._news = threading.Event()
        # Until it is known that nobody watches, everything is told: what is written while somebody asks, too.
        self._nobody = False
        self._asked = -ASK_SECONDS

    def note(self) -> None:
        """Something was written that a watcher wants to hear of."""
        if not self._nobody or time.monotonic() - self._asked >= ASK_SECONDS:
            self._news.set()

    def wait(self, seconds: float) -> bool:
        """Until there is something to tell, or the time has passed; True: tell it."""
        return self._news.wait(seconds)

    def begin(self) -> None:
        """It is being told: what is written from now on is news again."""
        self._nobody = False
        self._asked = time.monotonic()
        self._news.clear()

    def answered(self, watched: bool) -> None:
        """Whether anybody was there to be told."""
        self._nobody = not watched
        if self._nobody:
            # What was noted while the question was under way has nobody to be told to either, and would ask again.
            self._news.clear()

    def wake(self) -> None:
        """End the wait, whatever there is to tell."""
        self._news.set()
