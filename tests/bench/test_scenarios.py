"""Every scenario, tiny: what it says, not how fast it was. Few runs, because most of each is starting workers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import psycopg
import pytest

from howdah.bench.outcome import Outcome
from howdah.bench.programme import SCENARIOS
from tests.bench.conftest import TINY, TINY_TABLES, BenchAnswer

Bench = Callable[..., BenchAnswer]
PER_JOB = ("wal_bytes_per_job", "commits_per_job", "index_inserts_per_job")


def test_drain_latency_enqueue_and_memory(bench: Bench, sql: psycopg.Connection[Any]) -> None:
    answer = bench("drain", "latency", "enqueue", "memory", *TINY, "--json").must_be_right()
    assert answer.figure("drain", "ratio_to_floor") > 0
    assert all(answer.figure("drain", name) > 0 for name in PER_JOB)
    assert 0 < answer.figure("drain", "hot_ratio") <= 1
    assert 0 < answer.figure("latency", "latency_p50_ms") <= answer.figure("latency", "latency_p99_ms")
    assert answer.figure("latency", "p50_to_floor_ratio") > 0
    assert 0 < answer.figure("latency", "floor_latency_p50_ms") <= answer.figure("latency", "floor_latency_p99_ms")
    assert answer.figure("enqueue", "bulk_ratio_to_floor") > 0
    assert answer.figure("enqueue", "in_transaction_jobs_per_second") > 0
    assert answer.figure("memory", "start_mb") > 5
    assert answer.scenario("memory")["settings"]["jobs"] == 300
    told = answer.json
    assert set(told) == {"settings", "versions", "machine", "server", "scenarios"}
    assert told["versions"]["postgresql"]
    assert told["server"]["fsync"] == "off"
    assert "does not wait for the disk" in answer.err
    # Only its own schema was touched, and it is gone.
    query = "SELECT DISTINCT table_schema FROM information_schema.tables WHERE table_schema LIKE 'howdah%'"
    assert sql.execute(query).fetchall() == [("howdah",)]
    assert sql.execute("SELECT count(*) FROM howdah.jobs").fetchone() == (0,)


def test_sustained_and_pinned_and_their_plot(bench: Bench, tmp_path: Path) -> None:
    plot = tmp_path / "plot.svg"
    answer = bench("sustained", "pinned", *TINY, "--batch", 50, "--pin", "enqueued", "--json", "--plot", plot)
    answer.must_be_right()
    assert answer.figure("sustained", "ratio_to_floor") > 0
    assert all(answer.figure("sustained", name) > 0 for name in PER_JOB)
    assert answer.figure("pinned", "enqueued_to_unpinned_ratio") > 0
    assert answer.figure("pinned", "enqueued_late_commits") >= 1
    assert answer.figure("pinned", "enqueued_late_start_max_ms") > 0
    for name in ("sustained", "pinned"):
        series = answer.scenario(name)["series"]
        assert len(series) == 2
        assert all(one["jobs_per_second"] for one in series)
    root = ElementTree.fromstring(plot.read_text())
    assert len(root.findall(".//{http://www.w3.org/2000/svg}polyline")) == 4
    assert "prefers-color-scheme: dark" in plot.read_text()


def test_deep_and_types(bench: Bench) -> None:
    answer = bench("deep", "types", *TINY, *TINY_TABLES, "--json").must_be_right()
    assert answer.scenario("deep")["settings"]["finished"] == 900
    assert answer.figure("deep", "full_to_empty_ratio") > 0
    for name in ("get", "show", "ls", "ls_pending", "ls_failed"):
        assert answer.figure("deep", f"{name}_p99_ms") > 0
    assert answer.figure("types", "beside_to_alone_ratio") > 0
    assert answer.figure("types", "alone_ratio_to_floor") > 0


def test_idle_and_progress_in_words(bench: Bench) -> None:
    answer = bench("idle", "progress", *TINY, "--json").must_be_right()
    idle = answer.scenario("idle")
    # What cannot be measured is said so, and never made up.
    assert idle["figures"]["statements_per_worker_per_second"] == {"median": None, "spread": None, "measured": 0}
    assert any("pg_stat_statements" in remark for remark in idle["remarks"])
    assert answer.figure("idle", "queries_per_worker_per_second") >= 0
    assert answer.figure("progress", "writing_transactions_per_second") >= 0
    assert answer.figure("progress", "beside_to_alone_ratio") > 0


def test_goals_for_people(bench_here: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Outcome("latency", {}, rounds=[{"latency_p50_ms": 0.5, "latency_p99_ms": 9.0}])
    monkeypatch.setitem(SCENARIOS, "latency", lambda stage: found)
    answer = bench_here("latency", "--goals", "--quick")
    assert answer.code == 0, answer
    assert [line.split("  ")[-1] for line in answer.out.splitlines()[-2:]] == ["met", "NOT MET"]
    assert "at most 5.00 ms" in answer.out
