"""The history as charts: how much was done, how long jobs waited, how long they ran."""

from __future__ import annotations

from dataclasses import dataclass

from howdah.admin.history.views import History, Point
from howdah.telemetry.histogram import Histogram
from howdah.web.charts import Chart, area_chart, bar_chart
from howdah.web.wording import duration, number

PERCENTILES = {"p50": 50.0, "p95": 95.0, "p99": 99.0}


@dataclass(frozen=True, slots=True)
class Row:
    """One point as a line of the table that stands beside the charts, for those who cannot see them."""

    point: Point
    waited: dict[str, float | None]
    ran: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class HistoryCharts:
    """Everything that is drawn, and the same as rows."""

    throughput: Chart | None
    waited: Chart | None
    ran: Chart | None
    rows: list[Row]


def draw_history(history: History) -> HistoryCharts:
    """The charts of one history."""
    points = history.points
    times = [point.at for point in points]
    rows = [Row(point, _percentiles(point.work.waited), _percentiles(point.work.ran)) for point in points]
    done = {
        "completed": [_rate(point.work.completed, point) for point in points],
        "failed": [_rate(point.work.failed, point) for point in points],
    }
    return HistoryCharts(
        bar_chart(times, done, lambda value: f"{number(value)}/s"),
        area_chart(times, {name: [row.waited[name] for row in rows] for name in PERCENTILES}, duration),
        area_chart(times, {name: [row.ran[name] for row in rows] for name in PERCENTILES}, duration),
        [row for row in rows if row.point.work.started or row.point.work.ended],
    )


def _percentiles(durations: Histogram) -> dict[str, float | None]:
    return {name: durations.percentile(percent) for name, percent in PERCENTILES.items()}


def _rate(count: int, point: Point) -> float:
    # The first seconds of a step would make a tower of a single job.
    return count / max(point.seconds, 5.0)
