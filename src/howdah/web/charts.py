"""Charts as geometry: numbers in, coordinates of an SVG out. Templates draw them with classes and attributes only,
because the page forbids inline styles."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

WIDTH, HEIGHT = 400.0, 160.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 6.0, 10.0, 22.0


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Line:
    """One series: the stroke, and the area under it."""

    name: str
    stroke: str
    area: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One part of one column."""

    name: str
    x: float
    y: float
    width: float
    height: float
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Everything a template needs to draw it."""

    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    right: float = WIDTH - RIGHT
    floor: float = HEIGHT - BOTTOM
    rows: list[Tick] = field(default_factory=list)
    columns: list[Tick] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)


def area_chart(
    times: Sequence[datetime], series: Mapping[str, Sequence[float | None]], say: Callable[[float], str]
) -> Chart | None:
    """Lines over time, one for each name; None where there is nothing to draw."""
    values = [value for line in series.values() for value in line if value is not None]
    if len(times) < 2 or not values:
        return None
    top = ceiling(max(values))
    lines = [_line(name, line, top) for name, line in series.items()]
    return Chart(rows=_rows(top, say), columns=_columns(times), lines=lines)


def bar_chart(
    times: Sequence[datetime], series: Mapping[str, Sequence[float]], say: Callable[[float], str]
) -> Chart | None:
    """Columns over time, the series stacked in the order given; None where there is nothing to draw."""
    totals = [sum(column) for column in zip(*series.values(), strict=True)]
    if not times or not totals:
        return None
    top = ceiling(max(totals))
    step = (WIDTH - RIGHT - LEFT) / len(times)
    bars = []
    for index, when in enumerate(times):
        floor = HEIGHT - BOTTOM
        for name, line in series.items():
            height = (HEIGHT - BOTTOM - TOP) * line[index] / top
            if height <= 0:
                continue
            floor -= height
            label = f"{when:%H:%M} {name} {say(line[index])}"
            bars.append(Bar(name, _r(LEFT + index * step + step * 0.1), _r(floor), _r(step * 0.8), _r(height), label))
    return Chart(rows=_rows(top, say), columns=_columns(times), bars=bars)


def ceiling(value: float) -> float:
    """The next round number: 1, 2 or 5 times a power of ten."""
    if value <= 0 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value * 0.9999)


def _line(name: str, values: Sequence[float | None], top: float) -> Line:
    step = (WIDTH - RIGHT - LEFT) / (len(values) - 1)
    floor, room = HEIGHT - BOTTOM, HEIGHT - BOTTOM - TOP
    stroke, area = [], []
    run: list[tuple[float, float]] = []
    for index, value in enumerate([*values, None]):
        if value is not None:
            run.append((_r(LEFT + index * step), _r(floor - room * min(value, top) / top)))
        elif run:
            # A gap is a time in which nothing was measured; a line across it would claim something.
            points = "L".join(f"{x},{y}" for x, y in run)
            stroke.append(f"M{points}" if len(run) > 1 else f"M{run[0][0] - 1},{run[0][1]}h2")
            area.append(f"M{run[0][0]},{floor}L{points}L{run[-1][0]},{floor}Z")
            run = []
    return Line(name, "".join(stroke), "".join(area))


def _rows(top: float, say: Callable[[float], str]) -> list[Tick]:
    floor, room = HEIGHT - BOTTOM, HEIGHT - BOTTOM - TOP
    return [Tick(_r(floor - room * part), say(top * part)) for part in (0, 0.5, 1)]


def _columns(times: Sequence[datetime]) -> list[Tick]:
    count = min(4, len(times))
    step = (WIDTH - RIGHT - LEFT) / max(1, len(times) - 1)
    long = (times[-1] - times[0]).total_seconds() > 86400
    places = sorted({round(index * (len(times) - 1) / max(1, count - 1)) for index in range(count)})
    return [Tick(_r(LEFT + at * step), times[at].strftime("%d %b" if long else "%H:%M")) for at in places]


def _r(value: float) -> float:
    return round(value, 1)
