"""The one reader of an app: a thread with one connection that looks for all watchers at once.

A look is one statement for every job that anybody follows, and answers only for those that changed since the last;
one more for new events, if there are any; and, while somebody watches by a filter, one for what else there is.
How often: at once when a worker rings (they ring only while somebody watches), and otherwise by the pace, which slows
down while nothing happens and when looks take long.

INVARIANT: what was seen of a job (marks), and which events were told (cursors), moves only after the mailboxes have it.
A look that fails half-way has told nobody anything, and the next one finds the same again: a lost connection makes
neither gaps nor repetitions. The thread ends when nobody has watched for a while.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator, Sequence
from uuid import UUID

from howdah.db.faults import explain, is_forbidden, is_transient
from howdah.db.reader import Reader
from howdah.db.sessions import Sessions
from howdah.model.errors import DatabaseUnavailable
from howdah.model.job import JobEvent
from howdah.runtime.backoff import Pauses
from howdah.watch import store
from howdah.watch.pace import Pace
from howdah.watch.store import Look, Rights
from howdah.watch.subscription import ByFilter, Subscription
from howdah.watch.tracks import Tracks

logger = logging.getLogger("howdah.watch")
#: Jobs that a filter may find at each look: of those that workers hold, and of the newest in the ledger.
HELD_SEEN, NEWEST_SEEN = 1000, 200
#: Of how many jobs the events are read at once.
_JOBS_PER_READ = 50
_LINGER_SECONDS = 5.0


class Hub:
    """All watchers of one app in this process."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._subscriptions: dict[Subscription, None] = {}
        self._reading: _Reading | None = None

    def join(self, subscription: Subscription) -> None:
        """Tell this watcher from now on. Connects, so that a wrong URL is told to the first watcher at once."""
        url = self._sessions.url()
        with self._lock:
            if self._pid != os.getpid():
                # A fork took the watchers along, but not the thread that tells them.
                self._pid, self._subscriptions, self._reading = os.getpid(), {}, None
            self._subscriptions[subscription] = None
            if self._reading is None:
                self._reading = _Reading(self, Reader(url, self._sessions.catalog, "watch"))
                self._reading.start()
        self.wake()

    def leave(self, subscription: Subscription) -> None:
        """Tell this watcher nothing more."""
        # No lock: the garbage collector may call this in the middle of anything. A dict forgets in one step.
        self._subscriptions.pop(subscription, None)

    def wake(self) -> None:
        """Look now: there is a new watcher, or room for what was left in the database."""
        reading = self._reading
        if reading is not None:
            reading.wake()

    @property
    def lost(self) -> bool:
        """Whether the last look failed because the database was away."""
        reading = self._reading
        return reading is not None and reading.lost

    def close(self) -> None:
        """Tell nobody anything any more, and give the connection back."""
        with self._lock:
            reading, self._reading = self._reading, None
        for subscription in self.watchers():
            subscription.mailbox.fail(DatabaseUnavailable("the app was closed while its jobs were watched"))
            self.leave(subscription)
        if reading is not None and self._pid == os.getpid():
            reading.stop()

    def watchers(self) -> list[Subscription]:
        """Everybody who watches."""
        return list(self._subscriptions)

    def may_end(self, reading: _Reading) -> bool:
        """Whether that reader is needed no more; if so, the next watcher gets another."""
        with self._lock:
            if self._subscriptions and self._reading is reading:
                return False
            if self._reading is reading:
                self._reading = None
            return True


class _Reading:
    """The thread, from the first watcher to a while after the last."""

    def __init__(self, hub: Hub, reader: Reader) -> None:
        self._hub = hub
        self._reader = reader
        self._tracks = Tracks()
        self._pace = Pace()
        self._rights: Rights | None = None
        self._announced_on: int | None = None
        self._stopping = False
        self.lost = False
        self._thread = threading.Thread(target=self._run, name="howdah-watch", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def wake(self) -> None:
        """Look now."""
        self._reader.wake()

    def stop(self) -> None:
        """Look no more; returns when the thread has ended or is stuck on a dead connection."""
        self._stopping = True
        self._reader.wake()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=2)

    def _run(self) -> None:
        pauses = Pauses(longest=1.0)
        last_needed = time.monotonic()
        try:
            while not self._stopping:
                watchers = self._hub.watchers()
                now = time.monotonic()
                if watchers:
                    last_needed = now
                elif now - last_needed > _LINGER_SECONDS and self._hub.may_end(self):
                    break
                rest = self._look_safely(watchers, pauses)
                looked = time.monotonic()
                self._reader.sleep(rest)
                time.sleep(max(0.0, looked + self._pace.at_least - time.monotonic()))
        finally:
            self._reader.close()

    def _look_safely(self, watchers: list[Subscription], pauses: Pauses) -> float:
        """Look, and say how long to rest."""
        try:
            began = time.monotonic()
            changed = self._look(watchers)
        except Exception as error:
            if is_transient(error):
                if not self.lost:
                    logger.warning("watch: database lost, looking again until it is back")
                self.lost = True
                return pauses.next()
            # No right to look, tables missing, or a mistake of ours: waiting would not help.
            self._dismiss(watchers, error)
            return 0.0
        if self.lost:
            self.lost = False
            logger.warning("watch: database is back")
        pauses.reset()
        return self._pace.rest(changed=changed, jobs=len(self._tracks), took=time.monotonic() - began)

    def _look(self, watchers: list[Subscription]) -> bool:
        """One look for all watchers; whether there was anything new."""
        if not watchers:
            self._tracks.follow([])
            return False
        rights = self._greet()
        filters = self._discover([watcher for watcher in watchers if isinstance(watcher, ByFilter)])
        self._tracks.follow(watchers)
        marks = self._tracks.marks()
        looks = self._reader.perform(store.look_at(marks, rights)) if marks else []
        for one in filters:
            if looks:
                one.met(looks[0].at, time.monotonic())
        looks = [self._tracks[look.job_id].noted(look) for look in looks]
        changed = {look.job_id for look in looks}
        looks += [look for look in self._tracks.behind() if look.job_id not in changed]
        self._tell(looks, rights)
        return bool(looks)

    def _discover(self, filters: list[ByFilter]) -> list[ByFilter]:
        """Offer what there is to those who watch by a filter; those who go on."""
        if not filters:
            return []
        try:
            held, newest = self._reader.perform(store.discover(HELD_SEEN, NEWEST_SEEN))
        except Exception as error:
            if not is_forbidden(error):
                raise
            # Who may not list jobs may still watch those whose ids it knows.
            self._dismiss(filters, error)
            return []
        for one in filters:
            one.offer(held, newest)
        return filters

    def _dismiss(self, watchers: Sequence[Subscription], error: Exception) -> None:
        for watcher in watchers:
            watcher.mailbox.fail(explain(error) or error)
            self._hub.leave(watcher)

    def _greet(self) -> Rights:
        if self._rights is None:
            self._rights = self._reader.perform(store.read_rights())
        if self._announced_on != self._reader.connection_number and self._reader.direct:
            # Listening first: from the announcement on, workers ring for us.
            self._reader.perform(store.listen())
            if self._reader.perform(store.announce()):
                self._announced_on = self._reader.connection_number
        return self._rights

    def _tell(self, looks: list[Look], rights: Rights) -> None:
        for chunk in _chunks(looks):
            lacking = {look.job_id: after for look in chunk if (after := self._tracks.after(look)) is not None}
            found: dict[UUID, list[JobEvent]] = {}
            if lacking:
                found = self._reader.perform(store.read_events(lacking, rights))
            for look in chunk:
                for follower in list(self._tracks[look.job_id].followers):
                    follower.receive(look, found.get(look.job_id))
                self._tracks.settle(look)


def _chunks(looks: Sequence[Look]) -> Iterator[Sequence[Look]]:
    for start in range(0, len(looks), _JOBS_PER_READ):
        yield looks[start : start + _JOBS_PER_READ]
