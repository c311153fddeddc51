"""The comparison with peers: what it counts, in which order it measures, and what the report makes of it."""

from __future__ import annotations

import ast
import json
import sys
import time
from pathlib import Path

import pytest

from benchmarks import report, results
from benchmarks.__main__ import SECONDS, Options, turns
from benchmarks.figures import BULK, DRAIN, P50, Figures
from benchmarks.peers import NAMES, peer, peers
from benchmarks.peers.awa import with_socket_as_host
from benchmarks.peers.contract import Plan
from benchmarks.plots import Bar, Line, bars, lines
from benchmarks.processes import ROOT, Failure
from benchmarks.results import Measurement
from benchmarks.scenarios import Bench, drain, expect_each_once
from benchmarks.tally import Counter, Runs, open_forking_tally, open_tally, read_tallies
from tests.conftest import Database


def row(system: str, scenario: str, round_: int, **figures: object) -> Measurement:
    return Measurement(
        kind="measurement",
        run="R",
        round=round_,
        system=system,
        scenario=scenario,
        ok="reason" not in figures,
        reason=str(figures.pop("reason", "")),
        took=1.0,
        figures=dict(figures),
    )


def options(systems: list[str], rounds: int) -> Options:
    return Options(systems, ["drain", "pinned"], rounds, None, SECONDS, Path("unused"), "R", False)


def test_a_tally_is_counted_while_it_grows_and_read_afterwards(tmp_path: Path) -> None:
    before = time.monotonic()
    record = open_tally(tmp_path)
    for n in (3, -1, 7):
        record(n)
    assert Counter(tmp_path).count() == 3
    runs = read_tallies(tmp_path)
    assert list(runs.numbers) == [3, -1, 7]
    assert before <= runs.times[0] <= runs.times[2] <= time.monotonic()
    assert len(read_tallies(tmp_path, "asked")) == 0


def test_each_process_has_a_tally_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = open_forking_tally(tmp_path)
    record(1)
    monkeypatch.setattr("os.getpid", lambda: 4242)
    record(2)
    assert len(list(tmp_path.glob("*.tally"))) == 2
    assert sorted(read_tallies(tmp_path).numbers) == [1, 2]


def test_a_job_that_ran_twice_or_never_is_a_failure(tmp_path: Path) -> None:
    record = open_tally(tmp_path)
    for n in (1, 2, 2):
        record(n)
    runs = read_tallies(tmp_path)
    with pytest.raises(Failure, match="1 of 3 runs"):
        expect_each_once(runs, 3)
    with pytest.raises(Failure, match="3 jobs, 2 runs"):
        expect_each_once(Runs(runs.numbers[:2], runs.times[:2]), 3)


def test_every_system_describes_itself_without_its_package() -> None:
    foreign = {"asyncpg", "awa", "celery", "chancy", "dramatiq", "oban", "pgqueuer", "procrastinate", "redis"}
    assert [about.name for about in peers()] == list(NAMES)
    assert foreign.isdisjoint(sys.modules)
    for about in peers():
        assert {"worker", "enqueue"} <= set(about.settings)
        assert about.packages
        assert about.keeps
        assert about.durable
        assert about.handler


def test_rounds_begin_with_another_system_and_redis_is_never_pinned() -> None:
    found = turns(options(["howdah", "pgqueuer", "celery"], 3))
    first = [next(turn.system for turn in found if turn.round == round_) for round_ in (1, 2, 3)]
    assert first == ["howdah", "pgqueuer", "celery"]
    assert {turn.system for turn in found if turn.scenario == "pinned"} == {"howdah", "pgqueuer"}
    assert {turn.round for turn in found if turn.scenario == "pinned"} == {1, 3}


def test_medians_spread_and_ratios() -> None:
    rows = [row("howdah", "drain", n, per_second=rate) for n, rate in enumerate((300.0, 100.0, 200.0), 1)]
    rows += [row("oban", "drain", 1, per_second=50.0), row("oban", "drain", 2, reason="it hung")]
    rows += [row("howdah", "latency", 1, p50_ms=2.0), row("oban", "latency", 1, p50_ms=1.0)]
    figures = Figures(rows)
    ours = figures.summary("howdah", DRAIN)
    assert ours is not None
    assert (ours.median, ours.low, ours.high, ours.rounds) == (200.0, 100.0, 300.0, 3)
    assert figures.ratio("oban", DRAIN) == 4.0
    assert figures.ratio("oban", P50) == 0.5  # twice as slow: less than one
    assert figures.ratio("oban", BULK) is None
    assert [failure["reason"] for failure in figures.failures()] == ["it hung"]


def test_a_measurement_made_again_replaces_the_one_that_failed() -> None:
    figures = Figures([row("oban", "drain", 1, reason="broken"), row("oban", "drain", 1, per_second=5.0)])
    assert figures.failures() == []


def test_plots_show_every_system_and_escape_its_name() -> None:
    picture = bars("a < b", [Bar("Howdah", 120.0, 100.0, 150.0, True), Bar("R&D", 0.5, 0.4, 0.9, False)])
    assert "a &lt; b" in picture
    assert "R&amp;D" in picture
    assert picture.count("<rect") == 3
    assert lines("t", [Line("one", [1.0, 0.0, 20.0], True), Line("two", [5.0], False)]).count("<polyline") == 2


@pytest.fixture
def made_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A report of four measurements, one of them failed."""
    file = tmp_path / "results.jsonl"
    environment = results.Environment(
        kind="environment",
        run="R",
        started="2026-01-01",
        command="python -m benchmarks",
        hardware={"processor": "P", "cores": "2", "memory": "1 GiB", "system": "Linux"},
        versions={"PostgreSQL": "18"},
        postgres={"fsync": "on"},
        redis={"appendonly": "no"},
        left_out={"celery": "redis-server is not installed"},
        seconds=SECONDS,
        rounds=1,
    )
    results.append(file, environment)
    for system, rate in (("howdah", 2000.0), ("pgqueuer", 500.0)):
        results.append(file, row(system, "drain", 1, per_second=rate, jobs=1234, batch=10))
    results.append(file, row("oban", "drain", 1, reason="timeout: | pipe"))
    results.append(file, row("howdah", "sustained", 1, per_second=9.0, seconds=[7, 9, 9], batch=10))
    monkeypatch.setattr(report, "DOCS", tmp_path)
    monkeypatch.setattr(report, "FOLDER", tmp_path / "benchmarks")
    monkeypatch.setattr(report, "KEPT", tmp_path / "benchmarks" / "results.jsonl")
    monkeypatch.setattr("sys.argv", ["report", "--results", str(file)])
    report.main()
    kept = [json.loads(line) for line in (tmp_path / "benchmarks" / "results.jsonl").read_text().splitlines()]
    assert len(kept) == 5
    assert (tmp_path / "benchmarks" / "drain.svg").exists()
    return (tmp_path / "benchmarks.md").read_text()


def test_the_page_shows_what_ran_and_says_what_did_not(made_page: str) -> None:
    assert "| PgQueuer | 4.0 " in made_page
    assert "drain 1,234" in made_page
    assert "Celery on Redis was left out: redis-server is not installed" in made_page
    assert "Oban (Python), drain, round 1: `timeout: / pipe`" in made_page
    assert "0 of 1" in made_page
    assert "### latency" not in made_page


def test_a_socket_folder_becomes_the_host_of_an_address() -> None:
    url = "postgresql://me@/db?host=%2Fvar%2Fs&port=5432"
    assert with_socket_as_host(url) == "postgresql://me@%2Fvar%2Fs:5432/db"
    assert with_socket_as_host("postgresql://me@there/db") == "postgresql://me@there/db"


def test_howdah_drains_a_few_jobs_in_processes_of_its_own(database: Database, tmp_path: Path) -> None:
    plan = Plan("howdah", database.url, str(tmp_path), jobs=300, batch=100)
    figures = drain(Bench(peer("howdah"), plan, 60.0))
    assert figures["acknowledged_seen"] is True
    assert 0 < figures["per_second"] <= figures["handlers_per_second"]


def test_the_limits_of_the_house_hold_here_too() -> None:
    files = [path for path in (ROOT / "benchmarks").rglob("*.py") if ".venv" not in path.parts]
    assert len(files) > 15
    for path in files:
        text = path.read_text()
        assert len(text.splitlines()) <= 350, path
        assert ast.get_docstring(ast.parse(text)), path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert (node.end_lineno or 0) - node.lineno < 50, f"{path}: {node.name}"
