"""Each expectation of the demo is met by the right ending, and by no other."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from howdah.demo import expectations as expect
from howdah.demo.expectations import Expectation, Outcome
from howdah.demo.standing import Line, Standing

NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)
GOOD = Standing(
    id=uuid4(),
    status="completed",
    progress=100,
    stage=None,
    worker="B",
    attempts=1,
    errors=0,
    deaths=0,
    started_at=NOON,
    run_at=None,
    due_in=None,
    took=1.0,
    last_error=None,
    result=None,
)
THREAD = replace(GOOD, result={"thread": "howdah-job-1"})
PROCESS = replace(GOOD, result={"process": 77})
FILM = replace(GOOD, attempts=2, deaths=1)
FLAKY = replace(GOOD, attempts=3, errors=2)
CANCELLED = replace(GOOD, status="cancelled", progress=4)
LATER = replace(GOOD, run_at=NOON - timedelta(milliseconds=20))
POISON = replace(GOOD, status="failed", progress=50, attempts=3, deaths=3, last_error="poison: worker A4 died")


def failures(expectation: Expectation, job: Standing) -> list[str]:
    turns = {"high": 0, "normal": 1, "low": 2}
    labels = {f"print_label {name}": replace(GOOD, started_at=NOON + timedelta(seconds=n)) for name, n in turns.items()}
    outcome = Outcome({"job": job, **labels}, killed="A", process_ids=frozenset({5, 6}))
    return [expected for held, expected in expectation(job, outcome) if not held]


@pytest.mark.parametrize(
    ("expectation", "job"),
    [
        (expect.completed, GOOD),
        (expect.taken_over, FILM),
        (expect.in_a_thread, THREAD),
        (expect.in_a_process, PROCESS),
        (expect.retried, FLAKY),
        (expect.cancelled, CANCELLED),
        (expect.in_order, GOOD),
        (expect.on_time, LATER),
        (expect.poisonous, POISON),
    ],
)
def test_the_right_ending_is_met(expectation: Expectation, job: Standing) -> None:
    assert failures(expectation, job) == []


@pytest.mark.parametrize(
    ("expectation", "job", "change"),
    [
        (expect.completed, GOOD, {"status": "failed"}),
        (expect.completed, GOOD, {"progress": 99}),
        (expect.taken_over, FILM, {"attempts": 1}),
        (expect.taken_over, FILM, {"deaths": 0}),
        (expect.taken_over, FILM, {"worker": "A"}),
        (expect.in_a_thread, THREAD, {"result": {"thread": "MainThread"}}),
        (expect.in_a_thread, THREAD, {"result": None}),
        (expect.in_a_process, PROCESS, {"result": {"process": 5}}),
        (expect.in_a_process, PROCESS, {"result": None}),
        (expect.retried, FLAKY, {"errors": 1}),
        (expect.retried, FLAKY, {"attempts": 2}),
        (expect.cancelled, CANCELLED, {"status": "completed"}),
        (expect.cancelled, CANCELLED, {"started_at": None}),
        (expect.cancelled, CANCELLED, {"progress": 100}),
        (expect.on_time, LATER, {"started_at": NOON - timedelta(seconds=1)}),
        (expect.on_time, LATER, {"run_at": None}),
        (expect.poisonous, POISON, {"status": "completed"}),
        (expect.poisonous, POISON, {"deaths": 2}),
        (expect.poisonous, POISON, {"last_error": "on its last attempt"}),
    ],
)
def test_any_other_ending_is_noticed(expectation: Expectation, job: Standing, change: dict[str, Any]) -> None:
    assert failures(expectation, replace(job, **change))


@pytest.mark.parametrize("starts", [(0, 2, 1), (1, 0, 2), (2, 1, 0)])
def test_labels_out_of_order_are_noticed(starts: tuple[int, int, int]) -> None:
    labels = {
        f"print_label {name}": replace(GOOD, started_at=NOON + timedelta(seconds=n))
        for name, n in zip(("high", "normal", "low"), starts, strict=True)
    }
    outcome = Outcome(labels, killed="A", process_ids=frozenset())
    assert "labels to run high, normal, low" in [text for held, text in expect.in_order(GOOD, outcome) if not held]


@pytest.mark.parametrize(
    ("change", "orphaned", "state"),
    [
        ({"status": "pending"}, False, "waiting"),
        ({"status": "pending", "due_in": 3.0}, False, "scheduled"),
        ({"status": "pending", "due_in": 3.0, "errors": 1}, False, "retrying"),
        ({"status": "pending", "due_in": -0.1}, False, "waiting"),
        ({"status": "claimed"}, False, "running"),
        ({"status": "running"}, True, "orphaned"),
        ({"status": "completed"}, False, "completed"),
    ],
)
def test_states_in_the_words_of_somebody_who_watches(change: dict[str, Any], orphaned: bool, state: str) -> None:
    assert Line("job", replace(GOOD, **change), orphaned).state == state
