"""Lists, finds and counts jobs newest first, from wherever they are found fastest.

The ledger has no index but its primary key. What waits stands in the lines, what is held stands in the claims: both are
small, whatever the ledger holds. Everything else is searched for from the newest job backwards, and not without end: a
search has a budget of jobs to look at and one of time. It looks at a few first and at more as long as that is quick,
because nobody knows beforehand how long errors and arguments take to read.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from howdah.admin import store
from howdah.admin.filters import JobFilter
from howdah.admin.store import Window
from howdah.admin.views import Count, Found, Page
from howdah.db.op import Operation
from howdah.model.status import Status

_HELD = {Status.CLAIMED, Status.RUNNING}
_UNFINISHED = {Status.PENDING, *_HELD}
_FIRST_LOOK = 2000
#: Not more at a time, however quick it was so far: the next ones may have to be read from disk.
_LONGEST_LOOK = 10_000
#: Ids carry the clock of whoever made them, and created_at that of a transaction that may have been long. Not more,
#: because a search walks through all jobs of that time before it comes to those that it is for.
_SLACK = timedelta(minutes=5)
#: No clock that ever made a job's id was set before.
_FIRST_CLOCK = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Budget:
    """What a search may cost: jobs to look at in the ledger, seconds, and where lists of what waits or is held stop.
    The defaults leave a page that must be there in 300 ms time for everything else."""

    look: int = 1_000_000
    seconds: float = 0.12
    most: int = store.COUNT_LIMIT


DEFAULT_BUDGET = Budget()


def list_jobs(
    wanted: JobFilter, before: UUID | None = None, limit: int = 20, budget: Budget = DEFAULT_BUDGET
) -> Operation[Page]:
    """At most `limit` jobs, newest first, older than `before`."""
    found = yield from find_jobs(wanted, before, limit, budget)
    lines = (yield from store.list_lines(found.ids)) if found.ids else []
    return Page(lines, found.searched_to, found.looked)


def find_jobs(
    wanted: JobFilter,
    before: UUID | None = None,
    limit: int = 20,
    budget: Budget = DEFAULT_BUDGET,
    now: datetime | None = None,
) -> Operation[Found]:
    """The ids of at most `limit` jobs that fit, newest first, older than `before`. `now`: from when to count how long
    ago something was."""
    now = now or datetime.now(UTC)
    candidates = yield from _candidates(wanted, budget.most)
    if candidates is not None:
        ids = (yield from store.match_ids(wanted, now, candidates, before, limit)) if candidates else []
        return Found(ids)
    return (yield from _search(wanted, before, limit, budget, now))


def count_jobs(wanted: JobFilter, budget: Budget = DEFAULT_BUDGET) -> Operation[Count]:
    """How many jobs fit: counted up to `budget.most`, and beyond what the budget reaches, estimated."""
    found = yield from find_jobs(wanted, limit=budget.most + 1, budget=budget)
    counted = min(len(found.ids), budget.most)
    if len(found.ids) <= budget.most and found.searched_to is None:
        return Count(counted, exact=True)
    everything = yield from store.estimate_jobs()
    if len(found.ids) > budget.most:
        # Found so many before the search was over: at how many it had looked is not known.
        return Count(counted, exact=False, estimate=everything if not wanted.selects else None)
    share = counted / found.looked if found.looked else 0.0
    return Count(counted, exact=False, estimate=max(counted, round(everything * share)))


def _candidates(wanted: JobFilter, most: int) -> Operation[list[UUID] | None]:
    """Where it is known which jobs may fit; None: the whole ledger. A pending job without attempts left stands in no
    line, and is not among them."""
    if wanted.ids:
        return list(wanted.ids)
    statuses = set(wanted.statuses)
    if not statuses or not statuses <= _UNFINISHED:
        return None
    # Nobody's worker has a pending job.
    waiting: list[UUID] | None = [] if Status.PENDING not in statuses or wanted.worker_id else None
    if waiting is None:
        waiting = yield from store.list_waiting_ids(wanted, most)
    held = (yield from store.list_held_ids(wanted, most)) if statuses & _HELD else []
    return None if waiting is None or held is None else waiting + held


def _search(wanted: JobFilter, before: UUID | None, limit: int, budget: Budget, now: datetime) -> Operation[Found]:
    started = time.monotonic()
    ids: list[UUID] = []
    looked = 0
    step = limit if not wanted.selects else max(_FIRST_LOOK, limit)
    for window in _windows(wanted, before, now):
        place = window
        while True:
            step = max(1, min(step, budget.look - looked, _LONGEST_LOOK))
            began = time.monotonic()
            found, end = yield from store.find_ids(wanted, now, place, limit - len(ids), step)
            ids += found
            if len(ids) >= limit:
                return Found(ids, looked=looked)
            if end is None:
                break  # nothing is left in this window
            looked += step
            spent = time.monotonic() - began
            left = budget.seconds - (time.monotonic() - started)
            if looked >= budget.look or left < spent / 4:
                return Found(ids, end, looked)
            step = max(1, int(step * min(2.0, left / max(spent, 1e-6))))
            place = Window(end, window.floor)
    return Found(ids, looked=looked)


def _windows(wanted: JobFilter, before: UUID | None, now: datetime) -> Iterator[Window]:
    """The parts of the ledger that can hold what is wanted, newest first. Ids begin with the time at which they were
    made, so most of the ledger need not be looked at where the filter names times; but callers may bring ids of their
    own, which lie anywhere, and nearly all of those lie outside the years of any clock."""
    resolved = wanted.resolved(now)
    until = [resolved.created_until, resolved.started_until, resolved.completed_until]
    tops = [time for time in until if isinstance(time, datetime)]
    since = resolved.created_since
    if not tops and since is None:
        yield Window(before)
        return
    future, past = _id_at(now, _SLACK), _id_at(_FIRST_CLOCK)
    top = min(future, max(past, _id_at(min(tops), _SLACK))) if tops else future
    bottom = max(past, _id_at(since, -_SLACK)) if isinstance(since, datetime) else past
    for upper, lower in ((None, future), (top, min(bottom, top)), (past, None)):
        lowest = before if upper is None or (before is not None and before < upper) else upper
        if lowest is None or lower is None or lower < lowest:
            yield Window(lowest, lower)


def _id_at(time: datetime, slack: timedelta = timedelta()) -> UUID:
    """The smallest time-ordered id (UUID version 7) of that millisecond."""
    milliseconds = (time - datetime(1970, 1, 1, tzinfo=UTC) + slack) // timedelta(milliseconds=1)
    return UUID(int=min(max(0, milliseconds), 2**48 - 1) << 80)
