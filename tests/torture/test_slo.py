"""How recovery is timed: by workers that no other fault held up."""

from __future__ import annotations

from uuid import uuid4

import pytest

from torture.evidence import Change, Evidence, Strike
from torture.slo import FIRST_COMPLETION_SECONDS, RECLAIM_SECONDS, measure

BACK = 100.0


def change(at: float, became: str, worker: str, job: object = None) -> Change:
    was = "pending" if became == "claimed" else "running"
    return Change(
        number=int(at * 1000),
        at=at,
        job=job or uuid4(),  # type: ignore[arg-type]  # a UUID where one is given
        token=1,
        kind="quick",
        priority=100,
        was=was,
        became=became,
        lease=1,
        worker=f"{worker}:part",
        attempt=1,
        deaths=0,
        visible=at,
        backward=False,
        result=None,
    )


def after_the_outage(strikes: list[Strike]) -> float | None:
    """The first worker completes early, the second late."""
    history = [change(90.0, "claimed", "worker-1"), change(90.0, "claimed", "worker-2")]
    history += [change(101.0, "claimed", "worker-1"), change(101.5, "completed", "worker-1")]
    history += [change(103.0, "claimed", "worker-2"), change(104.0, "completed", "worker-2")]
    outage = Strike("crash", 95.0, BACK, None)
    return measure(Evidence(history=history, strikes=[outage, *strikes], drained_seconds=1.0), [BACK])[1].seconds


def test_the_first_completion_counts() -> None:
    assert after_the_outage([]) == pytest.approx(1.5)


@pytest.mark.parametrize("fault", ["kill", "stop", "cut"])
def test_a_worker_that_met_another_fault_says_nothing(fault: str) -> None:
    assert after_the_outage([Strike(fault, 101.6, 101.7, "worker-1")]) == pytest.approx(4.0)


def test_where_every_worker_met_another_fault_there_is_nothing_to_measure() -> None:
    assert after_the_outage([Strike("kill", 102.0, 102.0, f"worker-{n}") for n in (1, 2)]) is None


def test_a_fault_long_after_is_no_excuse() -> None:
    late = BACK + FIRST_COMPLETION_SECONDS + 0.1
    assert after_the_outage([Strike("kill", late, late, f"worker-{n}") for n in (1, 2)]) == pytest.approx(1.5)


def test_an_undisturbed_worker_that_completes_nothing_breaks_the_promise() -> None:
    history = [change(90.0, "claimed", "worker-1"), change(101.0, "claimed", "worker-1")]
    history.append(change(110.0, "completed", "worker-2"))
    evidence = Evidence(history=history, strikes=[Strike("crash", 95.0, BACK, None)], drained_seconds=1.0)
    slo = measure(evidence, [BACK])[1]
    assert not slo.met


@pytest.mark.parametrize(("at", "met"), [(RECLAIM_SECONDS - 0.1, True), (RECLAIM_SECONDS + 0.1, False)])
def test_a_killed_workers_job_is_claimed_again_in_time(at: float, met: bool) -> None:
    job = uuid4()
    history = [change(10.0, "claimed", "worker-1", job), change(20.0 + at, "claimed", "worker-2", job)]
    evidence = Evidence(history=history, strikes=[Strike("kill", 20.0, 20.0, "worker-1")], drained_seconds=1.0)
    slo = measure(evidence, [])[0]
    assert slo.seconds == pytest.approx(at)
    assert slo.met is met
