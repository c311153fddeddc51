"""What the history asks of the database, one operation per SQL file."""

from __future__ import annotations

from datetime import datetime, timedelta

from howdah.admin.history.views import By, Depth, Point, Share, Work
from howdah.db.op import Operation, Row, Statement
from howdah.telemetry.histogram import Histogram

#: Where counting stops: nobody reads the difference between 10,000 and more.
COUNT_LIMIT = 10_000


def read_series(
    per: str, step: timedelta, span: timedelta, until: datetime | None, queue: str | None, job_type: str
) -> Operation[list[Point]]:
    """Points of one series; queue None: of that job type in all of them."""
    rows = yield Statement(
        "history/read_series",
        {"per": per, "step": step, "span": span, "until": until, "queue": queue, "job_type": job_type},
    )
    return [Point(row[0], float(row[1]), _work(row[4:]), row[2], row[3]) for row in rows]


def read_breakdown(per: str, span: timedelta, until: datetime | None, by: By) -> Operation[list[Share]]:
    """What was done, by queue or by job type or by both; without the rest."""
    rows = yield Statement("history/read_breakdown", {"per": per, "span": span, "until": until, "by": str(by)})
    return [Share(row[0], row[1], _work(row[2:])) for row in rows]


def read_depths(most: int = COUNT_LIMIT) -> Operation[list[Depth]]:
    """What waits now."""
    return [Depth(*row) for row in (yield Statement("history/read_depths", {"most": most}))]


def _work(row: Row) -> Work:
    ran, ran_seconds, waited, waited_seconds = row[-4:]
    ran, waited = Histogram(tuple(ran), float(ran_seconds or 0)), Histogram(tuple(waited), float(waited_seconds or 0))
    return Work(ran, waited, *(int(count or 0) for count in row[:-4]))
