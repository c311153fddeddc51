"""Figures in people's words: what each is called, and how it is written."""

from __future__ import annotations

from collections.abc import Callable

from howdah.bench.outcome import Outcome

_UNMEASURED = "not measured"


def rows_of(outcome: Outcome) -> list[tuple[str, str, str]]:
    """What it is, its median, its spread."""
    rows = []
    for name in outcome.names:
        write = _writer(name)
        values = outcome.values(name)
        median = outcome.median(name)
        spread = f"{write(min(values))} to {write(max(values))}" if len(values) > 1 else ""
        rows.append((name.replace("_", " "), _UNMEASURED if median is None else write(median), spread))
    return rows


def written(name: str, value: float | None) -> str:
    """A figure as text."""
    return _UNMEASURED if value is None else _writer(name)(value)


def _writer(name: str) -> Callable[[float], str]:
    # By the name's own words, so that a new figure needs no entry here.
    if "ratio" in name:
        return lambda value: f"{value:.3f}"
    if name.endswith("_ms"):
        return lambda value: f"{value:,.2f} ms"
    if name.endswith("_mb"):
        return lambda value: f"{value:,.1f} MB"
    if name.endswith("_percent"):
        return lambda value: f"{value:.2f} %"
    if "bytes" in name:
        return lambda value: f"{value:,.0f} B"
    if name.endswith("jobs_per_second"):
        return lambda value: f"{value:,.0f} /s"
    if name.endswith("per_second"):
        return lambda value: f"{value:,.2f} /s"
    if name.endswith("_per_job"):
        return lambda value: f"{value:,.4f}" if value < 0.1 else f"{value:,.2f}"
    return lambda value: f"{value:,.0f}"
