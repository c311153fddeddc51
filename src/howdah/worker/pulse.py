"""The worker's pulse: a thread with a connection of its own, so that a handler which blocks the event loop, or
every other thread, keeps its job all the same.

About once a second, while jobs are held: one heartbeat for all of them, whose answer says which were
cancelled or lost, then the latest words of all running jobs in one statement. Without jobs, only the
heartbeat, and seldom. Now and then it asks whether the table knows of jobs that this worker does not, and writes
down what was done, if anything was. In between it tells watchers, if there are any, that this worker has written
something (worker/teller.py).
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from howdah.db.faults import is_busy, is_data_error, is_forbidden
from howdah.db.link import BlockingLink
from howdah.db.op import Operation
from howdah.worker import store
from howdah.worker.counting import Counting
from howdah.worker.held import Held, Holdings, Stop
from howdah.worker.reports import gather
from howdah.worker.seals import Seals
from howdah.worker.teller import RING_SECONDS, Teller

logger = logging.getLogger("howdah.worker")
#: Under a second, so that a start, a word or a cancellation is through within one.
PULSE_SECONDS = 0.8
#: A reply to a claim that has not come after this long never will; also how often to look.
RECONCILE_SECONDS = 5.0
#: How often to write down what was done: often enough for a chart by the minute.
STATS_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Duties:
    """What the pulse has to do besides beating: seal words, count and tell the load, tell watchers."""

    seals: Seals
    counting: Counting
    load: Callable[[], str]
    teller: Teller


class Pulse:
    """Heartbeats, words and verdicts of one worker."""

    def __init__(
        self,
        link: BlockingLink,
        worker_id: str,
        holdings: Holdings,
        silence: float,
        register: Callable[[], Operation[None]],
        duties: Duties,
    ) -> None:
        self._link = link
        self._worker_id = worker_id
        self._holdings = holdings
        self._register = register
        self._seals, self._counting = duties.seals, duties.counting
        self._load, self._teller = duties.load, duties.teller
        self._silence = silence
        self._seconds = min(PULSE_SECONDS, silence / 8)
        self._idle_seconds = silence / 6
        self._stop = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="howdah-pulse", daemon=True)
        self._last_beat = time.monotonic()
        self._last_reconciled = time.monotonic()
        self._registered = False
        self._last_load = self._last_stats = time.monotonic() - silence
        self._keeps_stats = True

    def start(self) -> None:
        """Begin to beat."""
        self._thread.start()

    def stop(self) -> None:
        """Beat no more; returns when the thread has ended or is stuck on a dead connection."""
        self._stop.set()
        self._teller.wake()
        self._thread.join(timeout=2)

    def _run(self) -> None:
        due = time.monotonic() + self._seconds
        while not self._stop.is_set():
            rest = due - time.monotonic()
            if rest > 0:
                if self._teller.wait(rest):
                    self._attempt(self._tell)
                    self._stop.wait(RING_SECONDS)
                continue
            # The beat first and by itself: whatever keeps words from being written must not cost a job its lease.
            for act in (self._beat, self._reconcile, self._say_words, self._write_stats):
                self._attempt(act)
            due = time.monotonic() + self._seconds
        # What was done since the last time is in the database before this worker is gone.
        self._last_stats = -STATS_SECONDS
        self._attempt(self._write_stats)
        self._link.close()

    def _attempt(self, act: Callable[[], None]) -> None:
        try:
            act()
        except Exception as error:
            # The link tells an outage once; the jobs go on, and the next pulse tries again.
            logger.debug("pulse failed: %s", type(error).__name__)

    def _tell(self) -> None:
        self._teller.begin()
        self._teller.answered(self._link.perform(store.tell()))

    def _beat(self) -> None:
        held = self._holdings.all()
        now = time.monotonic()
        if now - self._last_beat > self._silence:
            # Unheard for so long, by an outage or because this process was stopped: a rescue may have removed our row.
            self._registered = False
        if not held and self._registered and now - self._last_beat < self._idle_seconds:
            return
        if not self._registered:
            self._link.perform(self._register())
            self._registered = True
        # The row is written no more often than this.
        load = self._load() if now - self._last_load >= self._idle_seconds else None
        beat = store.heartbeat(self._worker_id, [(h.job.id, h.job.lease) for h in held], load)
        verdicts = self._link.perform(beat)
        self._last_beat = now
        if load is not None:
            self._last_load = now
        news = [(h, verdicts.get(h.job.id)) for h in held if verdicts.get(h.job.id) != "held"]
        if news:
            # In touch again only once the jobs know what the beat brought: none of those that are lost may start.
            self._loop.call_soon_threadsafe(self._deliver, news, now)
        else:
            self._holdings.touch(now)

    def _deliver(self, news: list[tuple[Held, str | None]], beaten: float) -> None:
        _tell(news)
        self._holdings.touch(beaten)

    def _reconcile(self) -> None:
        now = time.monotonic()
        if now - self._last_reconciled < RECONCILE_SECONDS:
            return
        known = [held.job.id for held in self._holdings.all()]
        released = self._link.perform(store.reconcile(self._worker_id, known, timedelta(seconds=RECONCILE_SECONDS)))
        self._last_reconciled = now
        if released:
            logger.warning("jobs claimed in a lost reply were released", extra={"count": released})

    def _say_words(self) -> None:
        speaking = self._holdings.begin_writing()
        try:
            self._counting.noticed(speaking)
            try:
                self._write_words(speaking)
            except Exception as error:
                if is_data_error(error):
                    for held in speaking:
                        self._write_alone(held)
                elif is_busy(error):
                    free = self._link.perform(store.not_locked([held.job.id for held in speaking]))
                    self._write_words([held for held in speaking if held.job.id in free])
                else:
                    raise
        finally:
            self._holdings.end_writing(speaking)

    def _write_stats(self) -> None:
        now = time.monotonic()
        if not self._keeps_stats or now - self._last_stats < STATS_SECONDS:
            return
        self._last_stats = now
        changed, state = self._counting.tally.changes()
        if not changed:
            return
        try:
            self._link.perform(store.record_stats(json.dumps(changed)), optional=True)
        except Exception as error:
            if not is_forbidden(error):
                raise
            self._keeps_stats = False
            logger.warning("this role has no right to write down what was done; `howdah roles` gives it")
        else:
            # Should the answer be lost, it is written twice: better than not at all.
            self._counting.tally.confirm(state)

    def _write_words(self, speaking: list[Held]) -> None:
        words = gather(speaking, self._seals, mark_running=True)
        if not words.running and not words.events:
            return
        try:
            accepted = self._link.perform(store.report(words.running, words.events))
        except BaseException:
            words.put_back()
            raise
        self._teller.note()
        for held in speaking:
            held.marked = held.marked or held.job.id in accepted

    def _write_alone(self, held: Held) -> None:
        try:
            self._write_words([held])
        except Exception as error:
            if not is_data_error(error):
                raise
            if held.spoken is not None:
                held.spoken.take_report()
            held.marked = True
            logger.error("words of a job could not be stored", extra=_about(held))


def _tell(news: list[tuple[Held, str | None]]) -> None:
    for held, verdict in news:
        if verdict == "lost" and not held.ended and held.stop is not Stop.LOST:
            logger.warning("job was lost to another claim", extra=_about(held))
            held.interrupt_for(Stop.LOST)
        elif verdict == "cancel" and held.stop is None:
            held.interrupt_for(Stop.CANCEL)


def _about(held: Held) -> dict[str, str]:
    return {"job_id": str(held.job_id), "job_type": held.job.job_type}
