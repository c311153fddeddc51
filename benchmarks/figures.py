"""From measurements to what a table shows: the median over the rounds, and the spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.peers import NAMES
from benchmarks.results import Measurement


@dataclass(frozen=True)
class Summary:
    """One figure of one system over all rounds that gave it."""

    median: float
    low: float
    high: float
    rounds: int


@dataclass(frozen=True)
class Metric:
    """A column: where it comes from and how it is read."""

    scenario: str
    figure: str
    title: str
    unit: str
    more_is_better: bool = True


DRAIN = Metric("drain", "per_second", "drain", "jobs/s")
SUSTAINED = Metric("sustained", "per_second", "sustained", "jobs/s")
PINNED = Metric("pinned", "per_second", "pinned", "jobs/s")
FLATNESS = Metric("pinned", "flatness", "pinned: last quarter / first", "")
P50 = Metric("latency", "p50_ms", "latency p50", "ms", more_is_better=False)
P99 = Metric("latency", "p99_ms", "latency p99", "ms", more_is_better=False)
SINGLE = Metric("enqueue", "single_per_second", "enqueue, one by one", "jobs/s")
BULK = Metric("enqueue", "bulk_per_second", "enqueue, bulk", "jobs/s")
METRICS = (DRAIN, SUSTAINED, PINNED, FLATNESS, P50, P99, SINGLE, BULK)
SIZES = {
    "drain": "drain {jobs:,}",
    "sustained": "sustained in calls of {batch:,}",
    "enqueue": "enqueue {single:,} one by one, {jobs:,} in calls of {batch:,}",
}


class Figures:
    """All measurements of one run."""

    def __init__(self, rows: Sequence[Measurement]) -> None:
        # A run that was continued may have tried a measurement again; the last word holds.
        self._rows = list({(row["round"], row["scenario"], row["system"]): row for row in rows}.values())

    def systems(self) -> list[str]:
        """Those that took part, in the order of the registry."""
        present = {row["system"] for row in self._rows}
        return [name for name in NAMES if name in present]

    def of(self, system: str, scenario: str) -> list[Measurement]:
        return [row for row in self._rows if row["system"] == system and row["scenario"] == scenario]

    def summary(self, system: str, metric: Metric) -> Summary | None:
        values = [float(row["figures"][metric.figure]) for row in self.of(system, metric.scenario) if row["ok"]]
        return Summary(median(values), min(values), max(values), len(values)) if values else None

    def ratio(self, peer: str, metric: Metric) -> float | None:
        """How many times better Howdah is than the peer, by medians; below one, it is worse."""
        ours, theirs = self.summary("howdah", metric), self.summary(peer, metric)
        if ours is None or theirs is None or 0 in (ours.median, theirs.median):
            return None
        return ours.median / theirs.median if metric.more_is_better else theirs.median / ours.median

    def seconds(self, system: str, scenario: str) -> list[float]:
        """Completions in each second of the run: the median over the rounds."""
        series = [row["figures"]["seconds"] for row in self.of(system, scenario) if row["ok"]]
        return [float(median(values)) for values in zip(*series, strict=False)]

    def sizes(self, system: str) -> str:
        """How many jobs were measured, as measured."""
        said = []
        for scenario, words in SIZES.items():
            if good := [row["figures"] for row in self.of(system, scenario) if row["ok"]]:
                said.append(words.format(**good[-1]))
        return "; ".join(said)

    def failures(self) -> list[Measurement]:
        return [row for row in self._rows if not row["ok"]]

    def rounds(self) -> int:
        return max((row["round"] for row in self._rows), default=0)

    def minutes(self) -> float:
        return sum(row["took"] for row in self._rows) / 60
