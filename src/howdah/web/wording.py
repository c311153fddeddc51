"""Values as people read them. What a template prints goes through here or is escaped as it stands."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

#: What stands where there is nothing to say.
NOTHING = "\N{EN DASH}"
_STEPS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))
_LONGEST_JSON = 50_000
_ONE_LINE = 90


def duration(value: object) -> str:
    """Two largest units: 3d 4h, 5m 12s, 1.2s, 250ms. What is no duration, because somebody wrote something else into
    the table, is shown as it is."""
    if not isinstance(value, timedelta | int | float) or value != value:
        return NOTHING if value is None else str(value)
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    seconds = float(min(max(0, seconds), 1e12))
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f}ms" if seconds >= 0.0005 else "0ms"
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    left = round(seconds)
    shown: list[str] = []
    for unit, size in _STEPS:
        count, left = divmod(left, size)
        if count or shown:
            shown.append(f"{count}{unit}" if count or not shown else "")
        if len(shown) == 2:
            break
    return " ".join(part for part in shown if part) or "0s"


def since(value: datetime | None, until: datetime | None = None) -> timedelta | None:
    """The time from one moment to another, or to now."""
    return None if value is None else (until or now()) - value


def ago(value: datetime | None) -> str:
    """`5m ago`, `in 2h`, or a dash."""
    if value is None:
        return NOTHING
    passed = now() - value
    return f"in {duration(-passed)}" if passed < timedelta(0) else f"{duration(passed)} ago"


def clock(value: datetime | None) -> str:
    """A moment in full, in UTC."""
    return NOTHING if value is None else value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def machine_time(value: datetime | None) -> str:
    """A moment for the browser, which shows it in the reader's own time."""
    return "" if value is None else value.astimezone(UTC).isoformat(timespec="milliseconds")


def number(value: object) -> str:
    """12,345, 0.4."""
    if not isinstance(value, int | float) or value != value or value in (float("inf"), float("-inf")):
        return NOTHING if value is None else str(value)
    if isinstance(value, float) and not value.is_integer():
        return f"{value:,.1f}" if abs(value) >= 1 else f"{value:.2f}"
    return f"{int(value):,}"


def size(value: object) -> str:
    """Bytes as people say them."""
    if not isinstance(value, int | float) or not 0 <= value < 1e18:
        return NOTHING if value is None else str(value)
    amount = float(value)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024 or unit == "GiB":
            return f"{amount:.0f} {unit}"
        amount /= 1024
    return NOTHING


def json_text(value: Any) -> str:
    """JSON as stored, indented: exact numbers, keys in the order of the database; cut where nobody reads on."""
    text = value if isinstance(value, str) and len(value) > _LONGEST_JSON else _dumped(value)
    return text if len(text) <= _LONGEST_JSON else f"{text[:_LONGEST_JSON]}\n… cut here: {len(text)} characters in all"


def short_json(value: Any) -> str:
    """JSON in one line while it is short."""
    try:
        line = json.dumps(value, ensure_ascii=False, default=_exact)
    except (RecursionError, ValueError):
        line = ""
    return line if 0 < len(line) <= _ONE_LINE else json_text(value)


def _dumped(value: Any) -> str:
    try:
        return json.dumps(value, indent=2, ensure_ascii=False, default=_exact)
    except (RecursionError, ValueError):
        return "nested too deeply to be shown; `howdah show` has it"


def _exact(value: object) -> object:
    # A whole number of more digits than Python converts was read as a Decimal.
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def last_line(text: str | None) -> str:
    """What a traceback says at its end."""
    lines = (text or "").strip().splitlines()
    return lines[-1] if lines else ""


def now() -> datetime:
    """This moment."""
    return datetime.now(UTC)
