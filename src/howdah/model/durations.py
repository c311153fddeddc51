"""Durations as people write them: 500ms, 30s, 10m, 1h30m, 2d."""

from __future__ import annotations

import re
from datetime import timedelta

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhdw])", re.ASCII)
_PLAIN = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_MILLISECONDS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}


def parse_duration(text: str) -> timedelta:
    """The duration, or ValueError. A number without a unit counts seconds."""
    stripped = text.strip().lower()
    try:
        if _PLAIN.fullmatch(stripped):
            return timedelta(seconds=float(stripped))
        parts = _PART.findall(stripped)
        if parts and "".join(number + unit for number, unit in parts) == stripped:
            return sum((timedelta(seconds=float(number) * _SECONDS[unit]) for number, unit in parts), timedelta())
    except OverflowError:
        raise ValueError(f"{text!r} is too long a time") from None
    raise ValueError(f"{text!r} is no duration; write 500ms, 30s, 10m, 1h30m or 2d")


def format_duration(time: timedelta) -> str:
    """A duration in its two largest units, short enough for a table: 3d4h, 5m, 12s, 250ms."""
    milliseconds = max(0, round(time.total_seconds() * 1000))
    if milliseconds < 1000:
        return f"{milliseconds}ms" if milliseconds else "0s"
    left = milliseconds // 1000
    shown: list[str] = []
    for unit in ("d", "h", "m", "s"):
        count, left = divmod(left, int(_SECONDS[unit]))
        if count or shown:
            shown.append(f"{count}{unit}" if count else "")
    return "".join(shown[:2])


def write_duration(time: timedelta) -> str:
    """A duration of whole milliseconds such that parse_duration reads the same again: 1d2h, 1h30m5s, 0s."""
    left = time // timedelta(milliseconds=1)
    parts = []
    for unit, size in _MILLISECONDS.items():
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"
