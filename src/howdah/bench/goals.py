"""The goals that Howdah sets itself for speed, and the runs that tell whether they are met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from howdah.bench.outcome import Outcome
from howdah.bench.settings import PINS, BenchSettings
from howdah.bench.wording import written


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure that must be at least, or at most, so much."""

    scenario: str
    figure: str
    limit: float
    at_least: bool

    def met(self, value: float) -> bool:
        """Whether that is good enough."""
        return value >= self.limit if self.at_least else value <= self.limit


@dataclass(frozen=True, slots=True)
class Verdict:
    """A goal beside what was measured; None: it was not."""

    goal: Goal
    value: float | None

    @property
    def word(self) -> str:
        """In a word."""
        if self.value is None:
            return "not measured"
        return "met" if self.goal.met(self.value) else "NOT MET"

    def row(self) -> tuple[str, str, str, str]:
        """Goal, limit, figure, verdict."""
        goal = self.goal
        limit = f"{'at least' if goal.at_least else 'at most'} {written(goal.figure, goal.limit)}"
        name = f"{goal.scenario}: {goal.figure.replace('_', ' ')}"
        return name, limit, written(goal.figure, self.value), self.word

    def as_json(self) -> dict[str, object]:
        """Everything."""
        goal = self.goal
        bound = "at_least" if goal.at_least else "at_most"
        met = None if self.value is None else goal.met(self.value)
        return {"scenario": goal.scenario, "figure": goal.figure, bound: goal.limit, "value": self.value, "met": met}


def _pinned_goals() -> Iterator[Goal]:
    for form in PINS:
        prefix = form.replace("-", "_")
        yield Goal("pinned", f"{prefix}_to_unpinned_ratio", 0.9, True)
        yield Goal("pinned", f"{prefix}_last_to_first_ratio", 0.95, True)
        yield Goal("pinned", f"{prefix}_late_start_max_ms", 1000, False)


GOALS = (
    Goal("drain", "ratio_to_floor", 0.8, True),
    Goal("drain", "wal_bytes_per_job", 750, False),
    Goal("sustained", "last_to_first_ratio", 0.95, True),
    *_pinned_goals(),
    Goal("deep", "full_to_empty_ratio", 0.9, True),
    Goal("deep", "get_p99_ms", 20, False),
    Goal("deep", "show_p99_ms", 20, False),
    Goal("deep", "ls_p99_ms", 20, False),
    Goal("types", "beside_to_alone_ratio", 0.95, True),
    Goal("latency", "latency_p50_ms", 1, False),
    Goal("latency", "latency_p99_ms", 5, False),
    Goal("progress", "writing_transactions_per_second", 2, False),
    Goal("progress", "beside_to_alone_ratio", 0.9, True),
    Goal("idle", "queries_per_worker_per_second", 1, False),
    Goal("idle", "server_cpu_percent", 2, False),
    Goal("memory", "start_mb", 80, False),
    Goal("memory", "growth_mb", 5, False),
)

#: Scenario → the size at which its goals are stated.
FULL: dict[str, dict[str, Any]] = {
    "drain": {"rounds": 5},
    "sustained": {"seconds": 600, "rounds": 1},
    "latency": {"seconds": 20, "rounds": 5},
    "enqueue": {"rounds": 5},
    "types": {"rounds": 5},
    "progress": {"seconds": 20, "rounds": 5},
    "idle": {"seconds": 60, "rounds": 1},
    "memory": {},
    "pinned": {"seconds": 600, "rounds": 1},
    "deep": {"rounds": 5},
}
#: A look in minutes: too small to judge by, large enough to see what is far off.
QUICK: dict[str, dict[str, Any]] = {
    "drain": {"jobs": 50_000, "rounds": 2},
    "sustained": {"seconds": 20, "rounds": 1},
    "latency": {"seconds": 5, "rounds": 2},
    "enqueue": {"jobs": 50_000, "rounds": 1},
    "types": {"jobs": 50_000, "pending": 100_000, "rounds": 1},
    "progress": {"jobs": 50_000, "seconds": 5, "rounds": 1},
    "idle": {"workers": 10, "seconds": 10, "rounds": 1},
    "memory": {"jobs": 200_000},
    "pinned": {"seconds": 20, "rounds": 1},
    "deep": {"jobs": 50_000, "pending": 200_000, "finished": 300_000, "scheduled": 50_000, "rounds": 1},
}
#: What the caller may change for scenarios that take a time; all others keep their own.
_TIMED = ("sustained", "pinned")


def settings_for(name: str, given: BenchSettings, *, quick: bool, rounds: int | None) -> BenchSettings:
    """The settings at which that scenario's goals are judged, with the caller's seconds and rounds where they fit."""
    sizes = dict((QUICK if quick else FULL)[name])
    if given.seconds is not None and name in _TIMED:
        sizes["seconds"] = given.seconds
    if rounds is not None:
        sizes["rounds"] = rounds
    return replace(given, **{"seconds": None, "jobs": None, **sizes})


def judge(outcomes: Sequence[Outcome]) -> list[Verdict]:
    """All goals of the scenarios that were run."""
    by_name = {outcome.scenario: outcome for outcome in outcomes}
    return [Verdict(goal, by_name[goal.scenario].median(goal.figure)) for goal in GOALS if goal.scenario in by_name]
