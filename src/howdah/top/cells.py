"""How a value looks in a cell of a few columns. Texts from the database are shown without control characters, which
could play tricks on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from howdah.model.durations import format_duration
from howdah.model.update import time_left

_EIGHTHS = " ▏▎▍▌▋▊▉"
_HEIGHTS = "▁▂▃▄▅▆▇█"
_PERCENT = 5
_MEGABYTE = 1024 * 1024


def visible(text: object) -> str:
    """One line, and nothing in it that a terminal would obey."""
    line = " ".join(str(text).split())
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)


def fitted(text: str, width: int) -> str:
    """The text in so many columns, shortened if need be."""
    return text if cell_len(text) <= width else set_cell_size(text, max(0, width - 1)) + "…"


def shortened_name(name: str, width: int) -> str:
    """A worker's name in so many columns: both of its ends tell, its middle gives way."""
    if cell_len(name) <= width:
        return name
    tail = max(0, (width - 1) // 2)
    return f"{set_cell_size(name, width - 1 - tail)}…{name[len(name) - tail :]}"


def bar(percent: int, width: int, style: str) -> Text:
    """A bar and its percentage, in so many columns."""
    room = max(1, width - _PERCENT)
    eighths = round(min(100, max(0, percent)) * room * 8 / 100)
    full, part = divmod(eighths, 8)
    drawn = "█" * full + (_EIGHTHS[part] if part else "")
    return Text.assemble((drawn, style), ("░" * (room - len(drawn)), "dim"), f"{percent:>4}%")


def sparkline(values: Sequence[float]) -> str:
    """The values as columns of different height; the highest is full."""
    most = max(values, default=0.0)
    if most <= 0:
        return _HEIGHTS[0] * len(values)
    return "".join(_HEIGHTS[min(7, int(value / most * 8))] for value in values)


def rate(per_second: float) -> str:
    """Jobs a second; below one, jobs a minute."""
    if per_second >= 10:
        return f"{per_second:,.0f}/s"
    if per_second >= 1 or per_second == 0:
        return f"{per_second:.1f}/s"
    return f"{per_second * 60:.0f}/min" if per_second * 60 >= 1 else "<1/min"


def memory(size: object) -> str:
    """Bytes, as people read them."""
    if not isinstance(size, int | float) or size <= 0:
        return "-"
    megabytes = size / _MEGABYTE
    return f"{megabytes:,.0f}M" if megabytes < 10_000 else f"{megabytes / 1024:,.0f}G"


def since(time: timedelta | None) -> str:
    """How long, in whole seconds; nothing is a dash."""
    return "-" if time is None else format_duration(timedelta(seconds=max(0, int(time.total_seconds()))))


def last_words(error: str | None) -> str:
    """The line of an error that says what happened: of a traceback, the last."""
    lines = [line for line in (error or "").splitlines() if line.strip()]
    return visible(lines[-1]) if lines else "-"


class Paces:
    """When each job last came on, for its ETA. It knows what it was shown, so a job must be shown at every look."""

    def __init__(self) -> None:
        self._seen: dict[object, tuple[int, timedelta]] = {}

    def look(self, progress: dict[object, tuple[int, timedelta | None]]) -> dict[object, timedelta | None]:
        """How long each will still take; of jobs by key: how far they are, and for how long they have run."""
        seen, left = self._seen, dict[object, timedelta | None]()
        self._seen = {}
        for key, (percent, ran) in progress.items():
            if ran is None:
                left[key] = None
                continue
            before = seen.get(key)
            changed = before[1] if before is not None and before[0] == percent and before[1] <= ran else ran
            self._seen[key] = (percent, changed)
            left[key] = time_left(percent, changed, ran - changed)
        return left
