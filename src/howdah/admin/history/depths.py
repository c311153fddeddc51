"""What waits, as metrics: asked for at most every few seconds however many ask, and never for long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta

from howdah.admin.history import store
from howdah.admin.history.views import Depth
from howdah.db.bounded import BoundedSession
from howdah.model.errors import HowdahError
from howdah.telemetry.exposition import render
from howdah.telemetry.families import queue_families

#: How old an answer may be, and how long the server may take for a new one.
KEPT_SECONDS = 5.0
LIMIT = timedelta(seconds=2)


class QueueMetrics:
    """One reader for all who ask in this process. `open_session` connects; it is called when first asked, and after a
    failure."""

    def __init__(self, open_session: Callable[[], BoundedSession], kept_seconds: float = KEPT_SECONDS) -> None:
        self._open_session = open_session
        self._kept_seconds = kept_seconds
        self._session: BoundedSession | None = None
        self._lock = threading.Lock()
        self._asked = float("-inf")
        self._depths: list[Depth] | None = None

    def text(self) -> str:
        """The queues' part of a page for Prometheus. Blocks while it asks the database: call it in a thread."""
        return queue_metrics_text(self.depths())

    def depths(self) -> list[Depth] | None:
        """What waits; None: the database could not tell. Blocks as well."""
        with self._lock:
            if time.monotonic() - self._asked >= self._kept_seconds:
                self._depths = self._ask()
                # A failure is kept as long: an outage must not be asked after by every scrape.
                self._asked = time.monotonic()
            return self._depths

    def close(self) -> None:
        """Give the connection back; the next question opens another."""
        with self._lock:
            self._let_go()

    def _ask(self) -> list[Depth] | None:
        try:
            self._session = self._session or self._open_session()
            return self._session.run(store.read_depths())
        except HowdahError:
            self._let_go()
            return None

    def _let_go(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()


def queue_metrics_text(depths: list[Depth] | None) -> str:
    """These depths in Prometheus' text format."""
    rows = None
    if depths is not None:
        rows = [(d.queue, d.job_type, d.ready, d.scheduled, d.oldest_seconds, d.paused) for d in depths]
    return render(queue_families(rows))
