"""What one watcher has been told and has not taken yet, passed from the reader's thread to a thread or an event loop.

Bounded: of one job, updates with the same status and attempt become one, the newest, with the events of both; and of
different ones the oldest are joined when there are many. The last is never dropped. Events are never dropped either:
while too many wait here, the reader leaves further ones in the database (`has_room`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from howdah.model.update import Update

#: Of one job, how many different statuses wait to be taken.
STATUSES_KEPT = 16
#: Of all jobs together, how many events wait to be taken.
EVENTS_KEPT = 1000
#: How many jobs wait to be taken before no further ones are looked for.
JOBS_KEPT = 5000


class Mailbox:
    """Updates waiting for one watcher."""

    def __init__(self, on_room: Callable[[], None]) -> None:
        self._changed = threading.Condition()
        self._waiting: dict[UUID, list[Update]] = {}
        self._events = 0
        self._ended = False
        self._error: Exception | None = None
        self._waker: Callable[[], None] | None = None
        self._on_room = on_room

    @property
    def has_room(self) -> bool:
        """Whether further events may be put here."""
        return self._events < EVENTS_KEPT

    @property
    def has_room_for_jobs(self) -> bool:
        """Whether further jobs may be put here."""
        return len(self._waiting) < JOBS_KEPT

    def put(self, update: Update) -> None:
        """Something new about a job."""
        with self._changed:
            waiting = self._waiting.setdefault(update.job_id, [])
            self._events += len(update.events)
            waiting.append(update)
            if len(waiting) > 1 and _same(waiting[-2], update):
                _join(waiting, len(waiting) - 2)
            elif len(waiting) > STATUSES_KEPT:
                _join(waiting, 0)
            self._wake()

    def end(self) -> None:
        """Nothing more will come."""
        with self._changed:
            self._ended = True
            self._wake()

    def fail(self, error: Exception) -> None:
        """Nothing more can come: the watcher is told why, after what it has not taken yet."""
        with self._changed:
            self._error = self._error or error
            self._wake()

    def take(self) -> Update | None:
        """The next update; None: not yet. StopIteration when nothing more will come."""
        with self._changed:
            for job_id, waiting in self._waiting.items():
                update = waiting.pop(0)
                if not waiting:
                    del self._waiting[job_id]
                else:
                    # One of each job in turn.
                    self._waiting[job_id] = self._waiting.pop(job_id)
                had_room = self.has_room
                self._events -= len(update.events)
                break
            else:
                if self._error is not None:
                    raise self._error
                if self._ended:
                    raise StopIteration
                return None
        if not had_room:
            self._on_room()
        return update

    def wait(self, seconds: float | None) -> None:
        """Until there is something to take, or the time has passed."""
        with self._changed:
            self._changed.wait_for(self._has_news, seconds)

    def call_when_changed(self, wake: Callable[[], None]) -> None:
        """Call it once, as soon as there is something to take; from any thread, perhaps at once. Of several, the last:
        those before it belong to waits that were given up."""
        with self._changed:
            if not self._has_news():
                self._waker = wake
                return
        wake()

    def _has_news(self) -> bool:
        return bool(self._waiting) or self._ended or self._error is not None

    def _wake(self) -> None:
        self._changed.notify_all()
        wake, self._waker = self._waker, None
        if wake is not None:
            wake()


def _same(older: Update, newer: Update) -> bool:
    return (older.status, older.attempt, older.gone) == (newer.status, newer.attempt, newer.gone)


def _join(waiting: list[Update], at: int) -> None:
    older, newer = waiting[at], waiting[at + 1]
    waiting[at : at + 2] = [replace(newer, events=older.events + newer.events)]
