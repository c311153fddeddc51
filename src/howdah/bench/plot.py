"""Throughput over time as an SVG: axes, labels, one line per series; readable on light and dark ground alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from howdah.bench.outcome import Outcome, Series

_WIDTH, _HEIGHT = 860, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 220, 40, 45
#: Told apart with any kind of sight, and on both grounds.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8f7fd1", "#999933")
_STYLE = """<style>
svg { background: #ffffff; color: #222222; font: 12px sans-serif }
@media (prefers-color-scheme: dark) { svg { background: #16181d; color: #dddddd } }
text { fill: currentColor } .axis { stroke: currentColor } .grid { stroke: currentColor; opacity: 0.15 }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round } .title { font-weight: bold }
</style>"""


def plot(outcomes: Sequence[Outcome]) -> str:
    """All outcomes that have series, one picture below the other."""
    shown = [outcome for outcome in outcomes if any(one.rates for one in outcome.series)]
    height = _HEIGHT * max(1, len(shown))
    pictures = [_picture(outcome.scenario, outcome.series, number * _HEIGHT) for number, outcome in enumerate(shown)]
    if not pictures:
        pictures = [_text(_LEFT, 60, "none of these scenarios has a throughput over time")]
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}">'
    return "\n".join([opening, _STYLE, *pictures, "</svg>"]) + "\n"


def _picture(title: str, series: Sequence[Series], down: int) -> str:
    seconds = max(len(one.rates) for one in series)
    top = _round_up(max(max(one.rates) for one in series if one.rates))
    parts = [f'<g transform="translate(0 {down})">', _text(_LEFT, 22, f"{title}: jobs per second", "title")]
    for step in range(5):
        value = top * step / 4
        y = _y(value, top)
        parts.append(_rule(_LEFT, y, _WIDTH - _RIGHT, y, "grid" if step else "axis"))
        parts.append(_text(_LEFT - 8, y + 4, f"{value:,.0f}", anchor="end"))
    parts.append(_rule(_LEFT, _y(0, top), _LEFT, _y(top, top), "axis"))
    for step in range(5):
        second = seconds * step / 4
        parts.append(_text(_x(second, seconds), _HEIGHT - _BOTTOM + 18, f"{second:g}", anchor="middle"))
    parts.append(_text(_x(seconds / 2, seconds), _HEIGHT - 8, "seconds", anchor="middle"))
    for number, one in enumerate(series):
        colour = _COLOURS[number % len(_COLOURS)]
        points = " ".join(f"{_x(n + 0.5, seconds):.1f},{_y(rate, top):.1f}" for n, rate in enumerate(one.rates))
        parts.append(f'<polyline class="line" stroke="{colour}" points="{points}"/>')
        y = _TOP + 16 * number
        parts.append(f'<rect x="{_WIDTH - _RIGHT + 14}" y="{y}" width="14" height="4" fill="{colour}"/>')
        parts.append(_text(_WIDTH - _RIGHT + 34, y + 6, one.name))
    return "\n".join([*parts, "</g>"])


def _x(second: float, seconds: int) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * second / seconds


def _y(rate: float, top: float) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * rate / top


def _round_up(value: float) -> float:
    step = 10 ** math.floor(math.log10(max(value, 1)))
    return float(math.ceil(max(value, 1) / step) * step)


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{named}>{escape(text)}</text>'


def _rule(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
