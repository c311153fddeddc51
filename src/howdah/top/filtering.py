"""What `/` asks for: a part of what is shown, or conditions on jobs as in `howdah ls --where`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from howdah.admin.filter_text import parse_filter
from howdah.admin.filters import JobFilter
from howdah.top.lines import Line

_CONDITION = re.compile(r"[=~<>]|^data\.")


@dataclass(frozen=True, slots=True)
class Wish:
    """`searched` is looked for in every line; `jobs` is asked of the database."""

    text: str = ""
    searched: str = ""
    jobs: JobFilter = field(default_factory=JobFilter)

    def shows(self, table: str, line: Line) -> bool:
        """Whether a line of that table is wanted. Jobs that came with conditions have met them already."""
        if not self.jobs.selects:
            return line.has(self.searched)
        named = {"queues": self.jobs.queue, "workers": self.jobs.worker_id}.get(table)
        return named is None or line.key == named


def read_wish(text: str) -> Wish:
    """What was typed, or FilterError."""
    text = text.strip()
    if _CONDITION.search(text):
        return Wish(text, jobs=parse_filter(text))
    return Wish(text, searched=text)
