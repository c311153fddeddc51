"""What a scenario found: figures by round, their medians and spread, series over time, and what was wrong."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field


class BenchFailed(Exception):
    """The bench cannot go on: a worker died or stands still."""


#: Figures of one round by name; None: it could not be measured, and a remark says why.
Figures = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Series:
    """Throughput over time: jobs a second in each second."""

    name: str
    rates: list[float]


@dataclass(slots=True)
class Outcome:
    """One scenario when it is over."""

    scenario: str
    settings: dict[str, object]
    rounds: list[Figures] = field(default_factory=list)
    series: list[Series] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)

    def median(self, name: str) -> float | None:
        """Over the rounds in which it was measured."""
        values = self.values(name)
        return statistics.median(values) if values else None

    def values(self, name: str) -> list[float]:
        """Of all rounds in which it was measured."""
        return [value for figures in self.rounds if (value := figures.get(name)) is not None]

    @property
    def names(self) -> list[str]:
        """All figures, in the order in which they first came."""
        return list(dict.fromkeys(name for figures in self.rounds for name in figures))

    def remark(self, text: str) -> None:
        """Something to be told once."""
        if text not in self.remarks:
            self.remarks.append(text)

    def as_json(self) -> dict[str, object]:
        """Everything."""
        figures = {}
        for name in self.names:
            values = self.values(name)
            spread = [min(values), max(values)] if values else None
            figures[name] = {"median": self.median(name), "spread": spread, "measured": len(values)}
        return {
            "scenario": self.scenario,
            "settings": self.settings,
            "figures": figures,
            "rounds": self.rounds,
            "series": [{"name": one.name, "jobs_per_second": one.rates} for one in self.series],
            "remarks": self.remarks,
            "troubles": self.troubles,
        }


def ratio(of: float | None, to: float | None) -> float | None:
    """None where one of them was not measured."""
    return None if of is None or not to else of / to


def percentile(values: Sequence[float], percent: float) -> float | None:
    """The value that so many percent do not exceed; None of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]
