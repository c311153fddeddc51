"""Plots as SVG, written by hand: two kinds are needed, and they shall look the same for years.

Both axes of figures are logarithmic, because the systems lie a hundredfold apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 860
LABELS = 150
MARGIN = 40
ROW = 30
TOP = 46
OURS = "#c2410c"
COLOURS = ("#1d4ed8", "#0f766e", "#7e22ce", "#4d7c0f", "#be185d", "#475569", "#0369a1", "#a16207")
STYLE = "font-family='system-ui, sans-serif' font-size='12'"


@dataclass(frozen=True)
class Bar:
    """A system's median with its spread."""

    label: str
    value: float
    low: float
    high: float
    ours: bool


@dataclass(frozen=True)
class Line:
    """A system's figure, second by second."""

    label: str
    values: Sequence[float]
    ours: bool


def short(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def decades(low: float, high: float) -> tuple[int, int]:
    """Whole powers of ten around all values, at least one apart."""
    first = math.floor(math.log10(low))
    return first, max(first + 1, math.ceil(math.log10(high)))


def text(x: float, y: float, words: str, *, anchor: str = "start", fill: str = "#334155", extra: str = "") -> str:
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' fill='{fill}' {extra}>{escape(words)}</text>"


def document(height: float, title: str, parts: Sequence[str]) -> str:
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height:.0f}' role='img' {STYLE}>"
    back = f"<rect width='{WIDTH}' height='{height:.0f}' fill='white'/>"
    name = text(16, 24, title, fill="#0f172a", extra="font-size='15' font-weight='600'")
    return "\n".join([head, f"<title>{escape(title)}</title>", back, name, *parts, "</svg>", ""])


def bars(title: str, rows: Sequence[Bar]) -> str:
    """Horizontal bars; the thin line is the spread from the worst round to the best."""
    first, last = decades(min(row.low for row in rows), max(row.high for row in rows))
    span = WIDTH - LABELS - 2 * MARGIN - 50

    def x(value: float) -> float:
        return LABELS + span * (math.log10(value) - first) / (last - first)

    bottom = TOP + ROW * len(rows)
    parts = []
    for power in range(first, last + 1):
        at = x(10**power)
        parts.append(f"<line x1='{at:.1f}' y1='{TOP - 6}' x2='{at:.1f}' y2='{bottom}' stroke='#e2e8f0'/>")
        parts.append(text(at, bottom + 16, short(10.0**power), anchor="middle", fill="#64748b"))
    for number, row in enumerate(rows):
        y = TOP + ROW * number
        colour = OURS if row.ours else "#94a3b8"
        parts.append(text(LABELS - 8, y + 15, row.label, anchor="end"))
        width = max(1.0, x(row.value) - LABELS)
        parts.append(f"<rect x='{LABELS}' y='{y + 3}' width='{width:.1f}' height='{ROW - 12}' rx='2' fill='{colour}'/>")
        middle = y + 3 + (ROW - 12) / 2
        ends = f"x1='{x(row.low):.1f}' x2='{x(row.high):.1f}' y1='{middle}' y2='{middle}'"
        parts.append(f"<line {ends} stroke='#0f172a' stroke-width='1.5'/>")
        parts.append(text(max(x(row.high), x(row.value)) + 6, y + 16, short(row.value), fill="#0f172a"))
    return document(bottom + 30, title, parts)


def lines(title: str, series: Sequence[Line]) -> str:
    """Figures over seconds; the legend stands in the order of the last values."""
    height, left = 400.0, 66.0
    right, bottom = WIDTH - 180.0, height - 40
    shown = [value for line in series for value in line.values if value > 0]
    first, last = decades(min(shown), max(shown))
    length = max(len(line.values) for line in series)

    def point(second: int, value: float) -> str:
        x = left + (right - left) * second / max(1, length - 1)
        y = bottom - (bottom - TOP) * (math.log10(max(value, 10.0**first)) - first) / (last - first)
        return f"{x:.1f},{y:.1f}"

    parts = []
    for power in range(first, last + 1):
        y = bottom - (bottom - TOP) * (power - first) / (last - first)
        parts.append(f"<line x1='{left}' y1='{y:.1f}' x2='{right}' y2='{y:.1f}' stroke='#e2e8f0'/>")
        parts.append(text(left - 8, y + 4, short(10.0**power), anchor="end", fill="#64748b"))
    for second in range(0, length, max(1, length // 10)):
        x = float(point(second, 1.0).split(",")[0])
        parts.append(text(x, bottom + 18, f"{second + 1} s", anchor="middle", fill="#64748b"))
    peers = [line for line in series if not line.ours]
    colours = {line.label: COLOURS[i % len(COLOURS)] for i, line in enumerate(peers)}
    for line in series:
        colour = OURS if line.ours else colours[line.label]
        drawn = " ".join(point(second, value) for second, value in enumerate(line.values))
        wide = 3 if line.ours else 1.5
        parts.append(f"<polyline points='{drawn}' fill='none' stroke='{colour}' stroke-width='{wide}'/>")
    for number, line in enumerate(sorted(series, key=lambda one: -one.values[-1])):
        y = TOP + 8 + 20 * number
        colour = OURS if line.ours else colours[line.label]
        parts.append(f"<rect x='{right + 16}' y='{y - 9}' width='12' height='12' rx='2' fill='{colour}'/>")
        parts.append(text(right + 34, y + 2, line.label))
    return document(height, title, parts)
