"""The judge itself: a clean run is clean, and every violation that can be planted into its evidence is found, by the
invariant that is there for it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from torture.checker import CONNECTIONS, INVARIANTS, ORDER_SLACK_SECONDS, check
from torture.evidence import Change, Evidence, Offer, Row, Run, Strike

QUICK, FLAKY, KILLED, POISON = (UUID(int=number) for number in range(1, 5))
TOKENS = {QUICK: 1, FLAKY: 2, KILLED: 3, POISON: 4}


class Story:
    """Evidence, told event by event."""

    def __init__(self) -> None:
        self.evidence = Evidence(drained_seconds=1.0)
        self._leases = iter(range(100, 10_000))

    def change(self, at: float, job: UUID, was: str | None, became: str, **more: Any) -> None:
        before = [change for change in self.evidence.history if change.job == job]
        known = before[-1] if before else None
        made = Change(
            number=len(self.evidence.history),
            at=at,
            job=job,
            token=TOKENS.get(job, 9),
            kind=more.pop("kind", known.kind if known else "quick"),
            priority=more.pop("priority", known.priority if known else 100),
            was=was,
            became=became,
            lease=next(self._leases) if became == "claimed" else (known.lease if known else 0),
            worker=more.pop("worker", known.worker if known else None),
            attempt=(known.attempt if known else 0) + (became == "claimed"),
            deaths=more.pop("deaths", known.deaths if known else 0),
            visible=more.pop("visible", at),
            backward=False,
            result=more.pop("result", None),
        )
        assert not more
        self.evidence.history.append(made)

    def run(self, began: float, job: UUID, worker: str, attempt: int, ended: float | None, how: str | None) -> None:
        self.evidence.runs.append(Run(job, TOKENS.get(job, 9), attempt, worker, began, ended, how))


def clean() -> Evidence:
    """Four jobs: one that goes well, one that raises once, one whose worker is killed, and one that kills."""
    story = Story()
    evidence = story.evidence
    for job, kind in ((QUICK, "quick"), (FLAKY, "flaky"), (KILLED, "wait"), (POISON, "poison")):
        token = TOKENS[job]
        evidence.offers[token] = Offer(token, kind, 100, 0.5, ok=True)
        story.change(1.0, job, None, "pending", kind=kind)
    for job, moment in ((QUICK, 2.0), (FLAKY, 2.1), (KILLED, 2.2)):
        story.change(moment, job, "pending", "claimed", worker="worker-1:aa")
    story.run(2.0, QUICK, "worker-1", 1, 2.1, "done")
    story.change(2.2, QUICK, "claimed", "completed", result={"worker": "worker-1", "attempt": 1})
    story.run(2.1, FLAKY, "worker-1", 1, 2.2, "raised")
    story.change(2.3, FLAKY, "claimed", "pending")
    story.run(2.3, KILLED, "worker-1", 1, None, None)
    evidence.strikes.append(Strike("kill", 3.0, 3.0, "worker-1"))
    story.change(7.5, KILLED, "claimed", "pending", deaths=1)
    for job in (FLAKY, KILLED):
        story.change(7.6, job, "pending", "claimed", worker="worker-2:bb")
        story.run(7.7, job, "worker-2", 2, 7.8, "done")
        story.change(7.9, job, "claimed", "completed", result={"worker": "worker-2", "attempt": 2})
    for death in range(1, 4):
        worker, moment = f"worker-{2 + death}", 10.0 * death
        story.change(moment, POISON, "pending", "claimed", worker=f"{worker}:cc")
        story.run(moment + 0.1, POISON, worker, death, None, None)
        evidence.strikes.append(Strike("died", moment + 0.2, moment + 0.2, worker))
        story.change(moment + 5, POISON, "claimed", "failed" if death == 3 else "pending", deaths=death)
    evidence.rows = [
        Row(QUICK, 1, "quick", "completed", 1, 0, 0, 100, 100),
        Row(FLAKY, 2, "flaky", "completed", 2, 1, 0, 100, 101),
        Row(KILLED, 3, "wait", "completed", 2, 0, 1, 100, 102),
        Row(POISON, 4, "poison", "failed", 3, 0, 3, 0, 103),
    ]
    return evidence


def last(evidence: Evidence, job: UUID) -> int:
    return max(number for number, change in enumerate(evidence.history) if change.job == job)


def lose(evidence: Evidence) -> None:
    evidence.rows = [row for row in evidence.rows if row.job != QUICK]
    evidence.runs = [run for run in evidence.runs if run.job != QUICK]


def offer_nothing(evidence: Evidence) -> None:
    del evidence.offers[1]


def double(evidence: Evidence) -> None:
    evidence.rows.append(replace(evidence.rows[0], job=UUID(int=77)))


def run_a_stranger(evidence: Evidence) -> None:
    evidence.runs.append(Run(UUID(int=99), 99, 1, "worker-1", 5.0, 5.1, "done"))


def leave_running(evidence: Evidence) -> None:
    evidence.rows[0] = replace(evidence.rows[0], status="running")


def not_drain(evidence: Evidence) -> None:
    evidence.drained_seconds = None


def give_up_producing(evidence: Evidence) -> None:
    evidence.producers_finished = False


def complete_again(evidence: Evidence) -> None:
    change = evidence.history[last(evidence, QUICK)]
    evidence.history.append(replace(change, number=900, at=9.0, was="completed"))


def come_back_to_life(evidence: Evidence) -> None:
    change = evidence.history[last(evidence, QUICK)]
    evidence.history.append(replace(change, number=900, at=9.0, was="completed", became="pending", visible=9.0))


def complete_by_a_late_worker(evidence: Evidence) -> None:
    number = last(evidence, KILLED)
    evidence.history[number] = replace(evidence.history[number], result={"worker": "worker-1", "attempt": 1})


def complete_by_an_earlier_attempt(evidence: Evidence) -> None:
    number = last(evidence, KILLED)
    evidence.history[number] = replace(evidence.history[number], result={"worker": "worker-2", "attempt": 1})


def keep_the_lease(evidence: Evidence) -> None:
    claims = [n for n, c in enumerate(evidence.history) if c.job == KILLED and c.became == "claimed"]
    evidence.history[claims[1]] = replace(evidence.history[claims[1]], lease=evidence.history[claims[0]].lease)


def not_count_the_attempt(evidence: Evidence) -> None:
    claims = [n for n, c in enumerate(evidence.history) if c.job == KILLED and c.became == "claimed"]
    evidence.history[claims[1]] = replace(evidence.history[claims[1]], attempt=1)


def run_without_a_claim(evidence: Evidence) -> None:
    evidence.runs.append(Run(QUICK, 1, 1, "worker-9", 2.05, 2.06, "done"))


def run_a_claim_twice(evidence: Evidence) -> None:
    evidence.runs.append(replace(evidence.runs[0], began=2.05))


def run_again_for_no_reason(evidence: Evidence) -> None:
    evidence.strikes = [strike for strike in evidence.strikes if strike.fault != "kill"]


def run_again_for_a_lost_reply(evidence: Evidence) -> None:
    evidence.strikes = [replace(strike, fault="drop_commit") for strike in evidence.strikes]


def run_after_the_end(evidence: Evidence) -> None:
    evidence.runs.append(Run(QUICK, 1, 1, "worker-1", 5.0, 5.1, "done"))


def pass_by_a_higher_priority(evidence: Evidence) -> None:
    waiting = replace(evidence.history[0], job=UUID(int=50), priority=150, at=1.0, visible=1.0, number=-1)
    evidence.history.insert(0, waiting)


def run_poison_a_fourth_time(evidence: Evidence) -> None:
    evidence.runs.append(Run(POISON, 4, 4, "worker-8", 40.0, None, None))


def take_an_innocent_for_poison(evidence: Evidence) -> None:
    evidence.rows[2] = replace(evidence.rows[2], status="failed", deaths=3)


def let_poison_live(evidence: Evidence) -> None:
    evidence.rows[3] = replace(evidence.rows[3], status="completed", deaths=2)


def step_backwards(evidence: Evidence) -> None:
    evidence.history[5] = replace(evidence.history[5], backward=True)


def stay_below_a_hundred(evidence: Evidence) -> None:
    evidence.rows[0] = replace(evidence.rows[0], progress=90)


def deadlock(evidence: Evidence) -> None:
    evidence.deadlocks.append("ERROR:  deadlock detected")


def connect_too_often(evidence: Evidence) -> None:
    evidence.most_connections = CONNECTIONS + 1


PLANTED: list[tuple[Callable[[Evidence], None], str]] = [
    (lose, "lost"),
    (offer_nothing, "unexpected"),
    (double, "unexpected"),
    (run_a_stranger, "unexpected"),
    (leave_running, "stuck"),
    (not_drain, "stuck"),
    (give_up_producing, "stuck"),
    (complete_again, "acknowledged_twice"),
    (come_back_to_life, "acknowledged_twice"),
    (complete_by_a_late_worker, "stale"),
    (complete_by_an_earlier_attempt, "stale"),
    (keep_the_lease, "leases"),
    (not_count_the_attempt, "leases"),
    (run_without_a_claim, "unclaimed_runs"),
    (run_a_claim_twice, "unclaimed_runs"),
    (run_again_for_no_reason, "unexplained_duplicates"),
    (run_again_for_a_lost_reply, "unexplained_duplicates"),
    (run_after_the_end, "repeated_after_the_end"),
    (pass_by_a_higher_priority, "priority"),
    (run_poison_a_fourth_time, "poison"),
    (take_an_innocent_for_poison, "poison"),
    (let_poison_live, "poison"),
    (step_backwards, "progress"),
    (stay_below_a_hundred, "progress"),
    (deadlock, "server"),
    (connect_too_often, "server"),
]


def test_a_clean_run_is_clean() -> None:
    assert check(clean()) == {invariant.__name__: [] for invariant in INVARIANTS}


@pytest.mark.parametrize(("plant", "name"), PLANTED, ids=[plant.__name__ for plant, _ in PLANTED])
def test_what_is_planted_is_found(plant: Callable[[Evidence], None], name: str) -> None:
    evidence = copy.deepcopy(clean())
    plant(evidence)
    assert check(evidence)[name]


def test_every_invariant_is_tried() -> None:
    assert {name for _, name in PLANTED} == {invariant.__name__ for invariant in INVARIANTS}


def test_a_job_that_came_late_is_no_violation_of_order() -> None:
    evidence = clean()
    visible = evidence.history[0].at + 1.0
    late = replace(evidence.history[0], job=UUID(int=50), priority=150, at=1.0, visible=visible, number=-1)
    evidence.history.insert(0, late)
    evidence.history = [change for change in evidence.history if change.at < visible + ORDER_SLACK_SECONDS]
    assert check(evidence)["priority"] == []
