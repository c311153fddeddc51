"""The text that Prometheus reads, and the dashboard that reads Prometheus."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from howdah.telemetry.exposition import counter, gauge, histogram, merge, render
from howdah.telemetry.families import Standing, queue_families, worker_families
from howdah.telemetry.histogram import BOUNDS, BUCKETS, Histogram, bucket_of
from howdah.telemetry.tally import MOST_SERIES, Tally

DASHBOARD = Path(__file__).parents[2] / "docs" / "grafana" / "howdah.json"
HOSTILE = 'back\\slash "quote" new\nline {brace}, ünïcode \N{SNOWMAN}'


def page(job_type: str = "t") -> str:
    tally = Tally()
    tally.note_started((job_type, "q"), [0.2, 0.002])
    tally.note_completed((job_type, "q"), [0.0005, 0.02, 3.0, 1e9])
    tally.note_ended((job_type, "q"), "failed", 0.5)
    tally.note_rescued((job_type, "q"), 2)
    tally.claims.add(7)
    tally.note_lag(0.01)
    standing = Standing("w", "1", 1, 2, 20, 0, 0.5, 10**8, 1.5, 1.8e9)
    families = worker_families(tally, standing) + queue_families([("q", job_type, 3, 4, 5.5, True)])
    return render(families)


def test_a_page_is_what_prometheus_reads() -> None:
    families = {family.name: family for family in text_string_to_metric_families(page(HOSTILE))}
    assert all(family.documentation for family in families.values())
    kinds = {name: family.type for name, family in families.items()}
    assert kinds["howdah_jobs_finished"] == "counter"
    assert kinds["howdah_job_duration_seconds"] == "histogram"
    assert kinds["howdah_queue_ready_jobs"] == "gauge"
    started = families["howdah_jobs_started"].samples[0]
    assert (started.labels, started.value) == ({"queue": "q", "job_type": HOSTILE}, 2.0)
    outcomes = {s.labels["outcome"]: s.value for s in families["howdah_jobs_finished"].samples}
    assert outcomes == {"completed": 4, "failed": 1, "cancelled": 0, "retried": 0, "snoozed": 0, "released": 0}
    for name, family in families.items():
        if family.type == "histogram":
            buckets = [s.value for s in family.samples if s.name == f"{name}_bucket"]
            count = next(s.value for s in family.samples if s.name == f"{name}_count")
            assert buckets == sorted(buckets), f"{name} is cumulative"
            assert buckets[-1] == count
    ran = {s.labels["le"]: s.value for s in families["howdah_job_duration_seconds"].samples if "le" in s.labels}
    assert (ran["0.001"], ran["0.04"], ran["1.6"], ran["4"], ran["+Inf"]) == (1, 2, 3, 4, 5)
    bounds = [float(le) for le in ran]
    assert bounds == sorted(bounds)
    assert [round(b / a, 1) for a, b in pairwise(bounds[:-1])] == [2.5] * 16


def test_numbers_that_are_none_of_the_usual() -> None:
    family = gauge("x", "h")
    for value in (math.inf, -math.inf, 1e300, 0.1, 3.0):
        family.sample(value, v=str(value))
    text = render([family, counter("empty_total", "left out")])
    assert "empty" not in text
    samples = next(family.samples for family in text_string_to_metric_families(text))
    assert [sample.value for sample in samples] == [math.inf, -math.inf, 1e300, 0.1, 3.0]


def test_pages_of_several_workers_become_one() -> None:
    def one(worker: str) -> str:
        family, sizes = counter("a_total", "the first"), histogram("b", "the second")
        family.sample(1, kind="x")
        sizes.buckets([1, 2], [1, 1, 1], 9.0)
        return render([family, sizes], worker=worker)

    merged = merge([one("1"), one("2"), ""])
    assert merged.count("# HELP") == merged.count("# TYPE") == 2
    families = list(text_string_to_metric_families(merged))
    assert [len(family.samples) for family in families] == [2, 10]
    assert {sample.labels["worker"] for family in families for sample in family.samples} == {"1", "2"}


def test_a_page_is_bounded_whatever_the_number_of_types() -> None:
    tally = Tally()
    for number in range(1000):
        tally.note_completed((f"type {number}", "q"), [0.1])
    standing = Standing("w", "1", 1, 2, 20, 0, 0.5, 10**8, 1.5, 1.8e9)
    text = render(worker_families(tally, standing))
    assert 'job_type="(other)"' in text
    assert text.count("howdah_jobs_started_total{") == MOST_SERIES + 1
    assert len(text) < 1_000_000


@pytest.mark.parametrize("seconds", [0.0, 0.0001, 0.00011, 0.9, 1.0, 1.01, 99_999.0, 1e5, 1e6, math.inf, -1.0])
def test_a_duration_is_in_the_bucket_whose_bound_it_does_not_exceed(seconds: float) -> None:
    place = bucket_of(seconds)
    assert 0 <= place < BUCKETS
    assert place == len(BOUNDS) or seconds <= BOUNDS[place]
    assert place == 0 or seconds > BOUNDS[place - 1]


@pytest.mark.parametrize("seconds", [0.00005, 0.0003, 0.0021, 0.07, 1.3, 500.0])
def test_percentiles_are_off_by_a_factor_of_1_6_at_most(seconds: float) -> None:
    counts = [0] * BUCKETS
    for factor in (0.5, 0.9, 1.0, 1.0, 1.1):
        counts[bucket_of(seconds * factor)] += 20
    found = Histogram(tuple(counts), 0.0)
    for percent, exact in [(10, 0.5), (50, 1.0), (99, 1.1)]:
        guess = found.percentile(percent)
        assert guess is not None
        assert 1 / 1.61 <= guess / (seconds * exact) <= 1.61 or seconds * exact < BOUNDS[0]
    assert Histogram().percentile(50) is Histogram().mean is None


def expressions(dashboard: dict[str, Any]) -> list[str]:
    return [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]


def test_the_grafana_dashboard_names_only_metrics_that_exist_and_all_of_them() -> None:
    dashboard = json.loads(DASHBOARD.read_text())
    exported = {sample.name for family in text_string_to_metric_families(page()) for sample in family.samples}
    queries = [*expressions(dashboard), *(v["query"] for v in dashboard["templating"]["list"])]
    named = {name for query in queries for name in re.findall(r"\b((?:howdah|process)_\w+)", query)}
    assert named <= exported, f"nobody exports {sorted(named - exported)}"
    families = {re.sub(r"_(bucket|sum|count)$", "", name) for name in exported}
    assert families == {re.sub(r"_(bucket|sum|count)$", "", name) for name in named}, "every metric is shown"


def test_the_grafana_dashboard_is_well_formed() -> None:
    dashboard = json.loads(DASHBOARD.read_text())
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids)) > 20
    for query in expressions(dashboard):
        for pair in ("()", "{}", "[]"):
            assert query.count(pair[0]) == query.count(pair[1]), query
        for label in re.findall(r"by \(([^)]*)\)", query):
            known = {"le", "queue", "job_type", "outcome", "instance", "worker"}
            assert {name.strip() for name in label.split(",")} <= known, query
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
