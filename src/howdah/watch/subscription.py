"""One watcher as the reader sees it: which jobs it follows, and up to which event it has been told.

Everything here belongs to the reader's thread, but for the mailbox. A cursor moves only together with what is put into
the mailbox, so whatever fails before that is simply asked again: nothing is missed and nothing is told twice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from howdah.model.errors import JobNotFound
from howdah.model.job import JobEvent
from howdah.model.update import Update
from howdah.watch.mailbox import Mailbox
from howdah.watch.selection import Selection
from howdah.watch.store import EVENTS_PAGE, NO_SUCH_JOB, Look

#: Jobs of a filter that are followed at once: all that are held, and the newest of the others.
MOST_FOLLOWED = 1200
#: Jobs of a filter that are remembered as told, or as none of the watcher's business.
MOST_REMEMBERED = 5000


@dataclass(slots=True)
class Follow:
    """One job for one watcher. `cursor`: the last event told; None: begin with those after the first look."""

    cursor: int | None
    told: Update | None = None
    mark: int | None = None


class Subscription(ABC):
    """One watcher. `began`: seconds of the caller's monotonic clock."""

    def __init__(self, selection: Selection, began: float, wake: Callable[[], None]) -> None:
        self.selection = selection
        self.began = began
        self.mailbox = Mailbox(wake)
        self.follows: dict[UUID, Follow] = {}

    def lacks(self, look: Look) -> int | None:
        """After which event this watcher lacks the job's next ones; None: it lacks none, or has no room for them."""
        follow = self.follows[look.job_id]
        if look.update is None or not self.mailbox.has_room or not self.selection.matches(look.update):
            return None
        cursor = 0 if _is_another(follow, look.update) else follow.cursor
        return cursor if cursor is not None and cursor < look.update.events_count else None

    def is_behind(self, look: Look) -> bool:
        """Whether events of the job are still to be told."""
        follow = self.follows.get(look.job_id)
        if follow is None or follow.cursor is None or look.update is None:
            return False
        return follow.cursor < look.update.events_count

    def receive(self, look: Look, events: Sequence[JobEvent] | None) -> None:
        """What a look found. `events`: a page of those after what the watcher that lacked most had; None: not read."""
        follow = self.follows[look.job_id]
        if look.update is None:
            self._lose(look.job_id, follow)
            return
        if not self.selection.matches(look.update):
            self._ignore(look.job_id)
            return
        fresh = self._advance(follow, look.update, events)
        if (follow.mark != look.mark or fresh) and self._is_news(look.update, follow):
            follow.told = look.update
            if self.selection.tells(look.update):
                self.mailbox.put(replace(look.update, events=fresh))
        follow.mark = look.mark
        if not look.update.finished:
            self._open_again(look.job_id)
        elif not self.is_behind(look):
            self._finish(look.job_id)

    def _advance(self, follow: Follow, update: Update, events: Sequence[JobEvent] | None) -> tuple[JobEvent, ...]:
        if follow.cursor is None:
            follow.cursor = update.events_count
            return ()
        if _is_another(follow, update):
            follow.cursor = 0
        if events is None or not self.mailbox.has_room:
            return ()
        cursor = follow.cursor
        fresh = tuple(event for event in events if event.seq > cursor)
        # Less than a page is all there is, whatever the count says: numbers may be missing.
        last = events[-1].seq if events else 0
        follow.cursor = max(cursor, last, update.events_count if len(events) < EVENTS_PAGE else 0)
        return fresh

    def _is_news(self, update: Update, follow: Follow) -> bool:
        return True

    def _lose(self, job_id: UUID, follow: Follow) -> None:
        if follow.told is not None:
            self.mailbox.put(replace(follow.told, gone=True, eta=None, events=()))

    @abstractmethod
    def _open_again(self, job_id: UUID) -> None: ...

    @abstractmethod
    def _finish(self, job_id: UUID) -> None: ...

    @abstractmethod
    def _ignore(self, job_id: UUID) -> None: ...


class ById(Subscription):
    """Jobs whose ids are known: from the first to the last that ends."""

    def __init__(self, selection: Selection, began: float, wake: Callable[[], None], after: int) -> None:
        super().__init__(selection, began, wake)
        self.follows = {job_id: Follow(after) for job_id in selection.ids}
        self._open = set(selection.ids)

    def _open_again(self, job_id: UUID) -> None:
        # Retried while others are still watched.
        self._open.add(job_id)

    def _finish(self, job_id: UUID) -> None:
        self._open.discard(job_id)
        if not self._open:
            self.mailbox.end()

    def _ignore(self, job_id: UUID) -> None:
        self._finish(job_id)

    def _lose(self, job_id: UUID, follow: Follow) -> None:
        if follow.told is None and follow.mark is None:
            self.mailbox.fail(
                JobNotFound(f"no job {job_id}; it may be past its retention, in another database, or not committed")
            )
        elif follow.mark != NO_SUCH_JOB:
            super()._lose(job_id, follow)
        follow.mark = NO_SUCH_JOB
        self._finish(job_id)


class ByFilter(Subscription):
    """Whatever matches: all that are held and the newest of the ledger, until the watcher has had enough."""

    def __init__(self, selection: Selection, began: float, wake: Callable[[], None]) -> None:
        super().__init__(selection, began, wake)
        self._first = True
        self._since: datetime | None = None
        self._finished: set[UUID] = set()
        #: Jobs that have ended and are no longer held, and those that are none of this watcher's business.
        self._past: dict[UUID, Follow] = {}
        self._others: dict[UUID, None] = {}

    def offer(self, held: Collection[UUID], newest: Collection[UUID]) -> None:
        """What there is to be followed."""
        for job_id in self._finished.difference(held):
            self._past[job_id] = self.follows.pop(job_id)
        self._finished.intersection_update(held)
        if self.mailbox.has_room_for_jobs:
            # A job that has ended and is held again was retried. One that waits again is met when it is claimed.
            for job_id in held:
                if job_id not in self.follows and job_id not in self._others:
                    self._follow(job_id)
            for job_id in newest:
                if len(self.follows) >= MOST_FOLLOWED:
                    break
                if job_id not in self.follows and job_id not in self._past and job_id not in self._others:
                    self._follow(job_id)
        self._first = False
        _shorten(self._past)
        _shorten(self._others)

    def met(self, now: datetime, monotonic: float) -> None:
        """The first look: what had ended before the watch began is no news."""
        if self._since is None:
            # A little too early, by the time that the look took, rather than too late: no end may be missed.
            self._since = now - timedelta(seconds=monotonic - self.began)

    def _follow(self, job_id: UUID) -> None:
        past = self._past.pop(job_id) if job_id in self._past else None
        self.follows[job_id] = past or Follow(None if self._first else 0)

    def _is_news(self, update: Update, follow: Follow) -> bool:
        if follow.told is not None or not update.finished or update.completed_at is None or self._since is None:
            return True
        return update.completed_at >= self._since

    def _open_again(self, job_id: UUID) -> None:
        self._finished.discard(job_id)

    def _finish(self, job_id: UUID) -> None:
        self._finished.add(job_id)

    def _ignore(self, job_id: UUID) -> None:
        self._let_go(job_id)
        self._others[job_id] = None

    def _lose(self, job_id: UUID, follow: Follow) -> None:
        super()._lose(job_id, follow)
        self._let_go(job_id)

    def _let_go(self, job_id: UUID) -> None:
        del self.follows[job_id]
        self._finished.discard(job_id)


def _is_another(follow: Follow, update: Update) -> bool:
    """Whether this is another job under the same id, whose events count anew."""
    return follow.told is not None and follow.told.created_at != update.created_at


def _shorten(remembered: dict[UUID, Any]) -> None:
    for job_id in list(remembered)[: max(0, len(remembered) - MOST_REMEMBERED)]:
        del remembered[job_id]
