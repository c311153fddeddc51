"""Durations, counts and lists as a person says them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

_NAMED = 5
_UNITS = (("d", 86_400), ("h", 3600), ("min", 60))


def span(duration: timedelta) -> str:
    """A duration in its two largest units."""
    seconds = duration.total_seconds()
    if seconds < 1:
        return f"{seconds * 1000:.1f} ms"
    for n, (unit, size) in enumerate(_UNITS):
        if seconds >= size:
            whole, rest = divmod(int(seconds), size)
            smaller, smaller_size = _UNITS[n + 1] if n + 1 < len(_UNITS) else ("s", 1)
            part = rest // smaller_size
            return f"{whole} {unit} {part} {smaller}" if part else f"{whole} {unit}"
    return f"{seconds:.0f} s"


def counted(number: int, noun: str, limit: int | None = None) -> str:
    """A number with its noun, saying so where counting stopped at a limit."""
    reached = limit is not None and number >= limit
    return f"{'at least ' if reached else ''}{number:,} {noun}{'' if number == 1 else 's'}"


def listed(names: Sequence[str]) -> str:
    """The first few, and how many more."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
