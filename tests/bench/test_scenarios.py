"""Every scenario, tiny: what it says, not how fast it was."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tests.bench.conftest import Everything

FLOORED = {
    "drain": "ratio_to_floor",
    "sustained": "ratio_to_floor",
    "pinned": "unpinned_ratio_to_floor",
    "deep": "full_ratio_to_floor",
    "types": "alone_ratio_to_floor",
    "progress": "alone_ratio_to_floor",
    "enqueue": "bulk_ratio_to_floor",
}
PER_JOB = ("wal_bytes_per_job", "commits_per_job", "index_inserts_per_job")


def test_everything_ran_and_every_job_exactly_once(everything: Everything) -> None:
    assert everything.answer.code == 0, everything.answer.err
    for scenario in everything.answer.json["scenarios"]:
        assert scenario["troubles"] == []
        assert scenario["rounds"]
    assert "WRONG" not in everything.answer.err


def test_only_its_own_schema_was_touched_and_it_is_gone(everything: Everything) -> None:
    assert everything.tables_left == ["howdah"]


def test_json_tells_on_what_it_was_measured(everything: Everything) -> None:
    told = everything.answer.json
    assert {"settings", "versions", "machine", "server", "scenarios"} == set(told)
    assert told["versions"]["postgresql"]
    assert told["server"]["fsync"] == "off"
    assert "does not wait for the disk" in everything.answer.err


@pytest.mark.parametrize(("scenario", "figure"), FLOORED.items())
def test_the_floor_stands_beside_it(everything: Everything, scenario: str, figure: str) -> None:
    assert everything.figure(scenario, figure) > 0


@pytest.mark.parametrize("scenario", ["drain", "sustained"])
def test_what_a_job_costs_the_server(everything: Everything, scenario: str) -> None:
    for name in PER_JOB:
        assert everything.figure(scenario, name) > 0
    assert 0 < everything.figure(scenario, "hot_ratio") <= 1


def test_latency_and_late_commits_are_times(everything: Everything) -> None:
    assert 0 < everything.figure("latency", "latency_p50_ms") <= everything.figure("latency", "latency_p99_ms")
    assert everything.figure("pinned", "enqueued_late_commits") >= 1
    assert everything.figure("pinned", "enqueued_late_start_max_ms") > 0
    assert everything.figure("pinned", "enqueued_to_unpinned_ratio") > 0


def test_deep_asks_what_people_ask(everything: Everything) -> None:
    assert everything.scenario("deep")["settings"]["finished"] == 900
    for name in ("get", "show", "ls", "ls_pending", "ls_failed"):
        assert everything.figure("deep", f"{name}_p99_ms") > 0
    assert everything.figure("deep", "full_to_empty_ratio") > 0
    assert everything.figure("types", "beside_to_alone_ratio") > 0


def test_what_cannot_be_measured_is_said_so(everything: Everything) -> None:
    idle = everything.scenario("idle")
    assert idle["figures"]["statements_per_worker_per_second"] == {"median": None, "spread": None, "measured": 0}
    assert any("pg_stat_statements" in remark for remark in idle["remarks"])
    assert everything.figure("idle", "queries_per_worker_per_second") >= 0
    assert everything.figure("progress", "writing_transactions_per_second") >= 0


def test_memory(everything: Everything) -> None:
    assert everything.figure("memory", "start_mb") > 5
    assert everything.scenario("memory")["settings"]["jobs"] == 300


def test_series_and_plot(everything: Everything) -> None:
    for name, count in (("sustained", 2), ("pinned", 2)):
        series = everything.scenario(name)["series"]
        assert len(series) == count
        assert all(one["jobs_per_second"] for one in series)
    root = ElementTree.fromstring(everything.plot.read_text())
    lines = root.findall(".//{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == 4
    assert "prefers-color-scheme: dark" in everything.plot.read_text()
