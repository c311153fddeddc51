"""How recovery is timed."""

from __future__ import annotations

from uuid import uuid4

import pytest

from torture.evidence import Change, Evidence, Strike
from torture.slo import FIRST_COMPLETION_SECONDS, RECLAIM_SECONDS, Slo, measure

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


def after_the_outage(seconds: float, strikes: list[Strike], before: float = 90.0) -> Slo:
    """Two workers, of which the first completes something so many seconds after the server is back."""
    history = [change(80.0, "claimed", "worker-1"), change(80.0, "claimed", "worker-2")]
    history.append(change(before, "completed", "worker-2"))
    history += [change(BACK + 0.1, "claimed", "worker-1"), change(BACK + 0.1, "claimed", "worker-2")]
    history.append(change(BACK + seconds, "completed", "worker-1"))
    outage = Strike("crash", 95.0, BACK, None)
    return measure(Evidence(history=history, strikes=[outage, *strikes], drained_seconds=1.0), [BACK])[1]


def kills(at: float, *workers: int) -> list[Strike]:
    return [Strike("kill", at, at, f"worker-{n}") for n in workers]


def test_the_first_completion_counts_whoever_makes_it() -> None:
    assert after_the_outage(1.5, []).seconds == pytest.approx(1.5)
    assert after_the_outage(1.5, kills(102.0, 1, 2)).seconds == pytest.approx(1.5)


def test_none_in_time_breaks_the_promise_if_one_worker_met_nothing_else() -> None:
    assert not after_the_outage(8.0, []).met
    assert not after_the_outage(8.0, kills(102.0, 1)).met


def test_where_every_worker_met_another_fault_there_is_nothing_to_measure() -> None:
    assert after_the_outage(8.0, kills(102.0, 1, 2)).seconds is None


def test_a_fault_long_after_is_no_excuse() -> None:
    assert not after_the_outage(8.0, kills(BACK + FIRST_COMPLETION_SECONDS + 0.1, 1, 2)).met


def test_where_nothing_was_to_be_done_there_is_nothing_to_measure() -> None:
    assert after_the_outage(8.0, [], before=82.0).seconds is None


@pytest.mark.parametrize(("at", "met"), [(RECLAIM_SECONDS - 0.1, True), (RECLAIM_SECONDS + 0.1, False)])
def test_a_killed_workers_job_is_claimed_again_in_time(at: float, met: bool) -> None:
    job = uuid4()
    history = [change(10.0, "claimed", "worker-1", job), change(20.0 + at, "claimed", "worker-2", job)]
    evidence = Evidence(history=history, strikes=[Strike("kill", 20.0, 20.0, "worker-1")], drained_seconds=1.0)
    slo = measure(evidence, [])[0]
    assert slo.seconds == pytest.approx(at)
    assert slo.met is met
