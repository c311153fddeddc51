"""Throughput and waiting times over time, from minutes or from hours, whichever are there and few enough."""

from __future__ import annotations

from datetime import datetime, timedelta

from howdah.admin.history import store
from howdah.admin.history.views import By, History, Share, Work
from howdah.db.op import Operation
from howdah.model.errors import OptionError

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
#: How long minutes and hours are kept (migration 0018).
MINUTES_KEPT, HOURS_KEPT = DAY, timedelta(days=31)
#: A chart with more points than this shows nothing more.
MOST_POINTS = 1500
_STEPS = [
    *(MINUTE * n for n in (1, 2, 5, 10, 15, 30)),
    *(HOUR * n for n in (1, 2, 3, 6, 12)),
    *(DAY * n for n in (1, 7, 31)),
]


def series(
    span: timedelta,
    *,
    queue: str | None = None,
    job_type: str | None = None,
    points: int = 60,
    until: datetime | None = None,
) -> Operation[History]:
    """The last `span` of time (before `until`, else before now) in at most about `points` points: of everything, of one
    queue, of one job type, or of one job type in one queue."""
    step = choose_step(span, points)
    found = yield from store.read_series(
        _per(span, step), step, span, until, queue if queue is not None or job_type is not None else "", job_type or ""
    )
    return History(found, step)


def breakdown(span: timedelta, by: By = By.TYPE, *, until: datetime | None = None) -> Operation[list[Share]]:
    """Who did how much in the last `span` of time, busiest first; what no row is kept for comes last, as one."""
    per = "minute" if span <= 3 * HOUR else "hour"
    found = yield from store.read_breakdown(per, _checked(span), until, by)
    everything = next((share.work for share in found if share.is_other), Work())
    listed = [share for share in found if not share.is_other]
    rest = everything
    for share in listed:
        rest = rest.less(share.work)
    listed.sort(key=lambda share: (-share.work.ended, -share.work.started, share.queue or "", share.job_type or ""))
    return [*listed, Share(None, None, rest)] if rest.started or rest.ended or rest.rescued else listed


def total(span: timedelta, *, until: datetime | None = None) -> Operation[Work]:
    """What all workers did in the last `span` of time."""
    per = "minute" if span <= 3 * HOUR else "hour"
    found = yield from store.read_breakdown(per, _checked(span), until, By.PAIR)
    return next((share.work for share in found if share.is_other), Work())


def choose_step(span: timedelta, points: int) -> timedelta:
    """The shortest step of a clock or calendar that needs no more than so many points."""
    if not 1 <= points <= MOST_POINTS:
        raise OptionError(f"a history has 1 to {MOST_POINTS} points, not {points}")
    _checked(span)
    fitting = (step for step in _STEPS if span / step <= points and (step >= HOUR or span <= MINUTES_KEPT))
    return next(fitting, _STEPS[-1])


def _per(span: timedelta, step: timedelta) -> str:
    return "minute" if step < HOUR and span <= MINUTES_KEPT else "hour"


def _checked(span: timedelta) -> timedelta:
    if not timedelta(0) < span <= HOURS_KEPT:
        raise OptionError(f"history is kept for {HOURS_KEPT.days} days; ask for a span of time within that")
    return span
