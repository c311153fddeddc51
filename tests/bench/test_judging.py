"""Medians, verdicts and words, without a server."""

from __future__ import annotations

from pathlib import Path

from howdah.bench.board import Board, uncounted
from howdah.bench.goals import FULL, GOALS, QUICK, judge, settings_for
from howdah.bench.outcome import Outcome, percentile, ratio
from howdah.bench.programme import SCENARIOS, TOUR
from howdah.bench.settings import BenchSettings
from howdah.bench.wording import rows_of


def test_medians_leave_out_what_was_not_measured() -> None:
    outcome = Outcome("x", {}, rounds=[{"a": 1.0, "b": None}, {"a": 5.0, "b": None}, {"a": 3.0, "b": None}])
    assert outcome.median("a") == 3
    assert outcome.median("b") is None
    assert rows_of(outcome) == [("a", "3", "1 to 5"), ("b", "not measured", "")]
    assert outcome.as_json()["figures"] == {
        "a": {"median": 3.0, "spread": [1.0, 5.0], "measured": 3},
        "b": {"median": None, "spread": None, "measured": 0},
    }


def test_ratios_and_percentiles() -> None:
    assert ratio(1, 4) == 0.25
    assert ratio(None, 4) is None
    assert ratio(1, 0) is None
    assert percentile([], 99) is None
    assert percentile(list(range(100)), 50) == 50
    assert percentile(list(range(100)), 99) == 99


def test_goals_are_judged_and_the_unmeasured_told() -> None:
    drained = Outcome("drain", {}, rounds=[{"ratio_to_floor": 0.85, "wal_bytes_per_job": 800.0}])
    idle = Outcome("idle", {}, rounds=[{"queries_per_worker_per_second": 0.5, "server_cpu_percent": None}])
    words = {f"{v.goal.scenario} {v.goal.figure}": v.word for v in judge([drained, idle])}
    assert words == {
        "drain ratio_to_floor": "met",
        "drain wal_bytes_per_job": "NOT MET",
        "idle queries_per_worker_per_second": "met",
        "idle server_cpu_percent": "not measured",
    }


def test_every_goal_has_its_run_and_every_run_its_scenario() -> None:
    assert {goal.scenario for goal in GOALS} <= set(FULL) == set(QUICK) == set(SCENARIOS) >= set(TOUR)
    given = BenchSettings(seconds=5, jobs=7)
    assert settings_for("sustained", given, quick=False, rounds=None).seconds == 5
    assert settings_for("idle", given, quick=False, rounds=None).seconds == 60
    assert settings_for("drain", given, quick=False, rounds=9).rounds == 9
    assert settings_for("drain", given, quick=True, rounds=None).jobs == 50_000


def test_the_board_counts_for_all_who_look(tmp_path: Path) -> None:
    board = Board.make(tmp_path / "board", 4, stamps=3)
    twin = Board(tmp_path / "board")
    for number in (0, 1, 1, 3):
        twin.counts[number] += 1
    assert uncounted(board, 4) == ["of 4 jobs, 1 ran too seldom and 1 too often"]
    twin.stamp(0)
    twin.stamp(0)
    twin.stamp(1)
    twin.stamp(1)
    assert uncounted(board, 1) == ["1 stamped jobs ran twice"]
