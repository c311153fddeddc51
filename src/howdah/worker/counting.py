"""Counts what becomes of held jobs, a batch at a time: the hot path has no time for one by one.

A start is counted once, by whoever notices it first: the pulse, which looks at running jobs about once a second, or the
acker, when the job has ended before that. The acker waits for the pulse to be done with its jobs (Holdings.settle), so
they never both do.

RULE: whatever goes wrong here is told once and changes nothing else: no acknowledgement waits for a statistic.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter, itemgetter

from howdah.telemetry.tally import FLOOD, STRIDE, Kind, Tally
from howdah.worker.held import Held
from howdah.worker.store import ClaimedJob, Completion, Ended, Ending

logger = logging.getLogger("howdah.worker")
_job = attrgetter("job")
_kind = itemgetter(ClaimedJob._fields.index("job_type"), ClaimedJob._fields.index("queue"))
_OUTCOMES = {"retry": "retried", "death": "retried", "snooze": "snoozed", "release": "released"}
#: Ends whose running time says how long the work takes; the others were interrupted.
_TIMED = {"failed", "retried"}


class Counting:
    """Of one worker, into its tally. `only`: it serves nothing else, so nobody need look what a job is."""

    def __init__(self, tally: Tally, only: Kind | None = None) -> None:
        self.tally = tally
        self._only = only

        self._told = False

    def noticed(self, many: Iterable[Held]) -> None:
        """These have started; those that have been counted are not counted again."""
        with self._harmless():
            self._noticed(many)

    def completed(self, done: Sequence[Completion], held: Sequence[Held]) -> None:
        """These were acknowledged as completed; among the held ones are theirs."""
        with self._harmless():
            self._completed(done, held)

    def ended(self, endings: Iterable[Ending], ended: Iterable[Ended], held: Iterable[Held]) -> None:
        """These were acknowledged as ended otherwise."""
        with self._harmless():
            self._ended(endings, ended, held)

    @contextmanager
    def _harmless(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if not self._told:
                self._told = True
                logger.error("jobs could not be counted: %s", type(error).__name__)

    def _noticed(self, many: Iterable[Held]) -> None:
        fresh = [held for held in many if not held.noted and held.started is not None]
        for held in fresh:
            held.noted = True
        self._started(fresh)

    def _completed(self, done: Sequence[Completion], held: Sequence[Held]) -> None:
        if len(done) != len(held):
            by_id = {one.job.id: one for one in held}
            held = [by_id[end.id] for end in done]
        fresh = [one for one in held if not one.noted]
        counts = self._count(held)
        timed = range(0, len(held), STRIDE if len(held) >= FLOOD else 1)
        if len(counts) > 1 and {_kind(held[place].job) for place in timed} != set(counts):
            # None of them may go untimed.
            timed = range(len(held))
        if len(fresh) == len(held):
            self._started([held[place] for place in timed], counts)
        else:
            self._started(fresh)
        ran: dict[Kind, list[float]] = {}
        for place in timed:
            ran.setdefault(_kind(held[place].job), []).append(done[place].ran)
        for kind, many in ran.items():
            self.tally.note_completed(kind, many, counts.get(kind))

    def _ended(self, endings: Iterable[Ending], ended: Iterable[Ended], held: Iterable[Held]) -> None:
        became = {end.id: end.status for end in ended}
        by_id = {one.job.id: one for one in held}
        for ending in endings:
            one, status = by_id.get(ending.id), became.get(ending.id)
            if one is not None and status is not None:
                self._noticed([one])
                outcome = _OUTCOMES.get(ending.outcome, "released") if status == "pending" else status
                self.tally.note_ended(_kind(one.job), outcome, ending.ran if outcome in _TIMED else None)

    def _count(self, held: Sequence[Held]) -> Mapping[Kind, int]:
        kinds = {self._only} if self._only is not None else set(map(_kind, map(_job, held)))
        return {kinds.pop(): len(held)} if len(kinds) == 1 else Counter(map(_kind, map(_job, held)))

    def _started(self, timed: list[Held], counts: Mapping[Kind, int] | None = None) -> None:
        waits: dict[Kind, list[float]] = {}
        for held in timed:
            waits.setdefault(_kind(held.job), []).append(_waited(held))
        for kind, many in waits.items():
            self.tally.note_started(kind, many, None if counts is None else counts.get(kind))


def _waited(held: Held) -> float:
    """From when it was due, by the database's clock, to its claim, and from there to its start by ours."""
    return held.job.waited + ((held.started or held.admitted) - held.admitted)
