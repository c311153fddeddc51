"""What the event loop and the pulse thread agree on about held jobs."""

from __future__ import annotations

import threading
import time

from howdah.model.job_id import new_job_id
from howdah.worker.held import Held, Holdings
from howdah.worker.store import ClaimedJob


def test_a_worker_is_out_of_touch_when_nobody_has_heard_of_it_for_its_silence() -> None:
    holdings = Holdings(silence=10.0)
    found = []
    for age in (0.0, 10.1, 0.0):
        holdings.touch(time.monotonic() - age)
        found.append(holdings.out_of_touch)
    assert found == [False, True, False]


def held(claim: int = 1) -> Held:
    return Held(ClaimedJob(claim, new_job_id().bytes, 1, "t", "default", 100, 0.0, "{}", 1, 3, 0, 0, 0))


def test_settling_waits_for_a_pulse_that_is_looking_for_words() -> None:
    holdings, job = Holdings(), held()
    holdings.add([job])
    looking, settled = threading.Event(), threading.Event()

    class Slow:
        """Stands for a started job: the pulse, while looking, finds that somebody wants to settle."""

        ended = False
        being_written = False

        @property
        def started(self) -> float:
            looking.set()
            assert not settled.wait(0.2), "settled although the pulse was still looking"
            return 1.0

    holdings._held[b"slow"] = Slow()  # type: ignore[assignment]  # a stand-in, as slow as the test needs

    def settle() -> None:
        looking.wait(5)
        holdings.settle()
        settled.set()

    settling = threading.Thread(target=settle)
    settling.start()
    speaking = holdings.begin_writing()
    settling.join(5)
    assert settled.is_set()
    assert [one.being_written for one in speaking] == [True]


def test_a_claim_is_empty_when_its_last_job_has_ended() -> None:
    holdings, jobs = Holdings(), [held(1), held(1), held(2)]
    holdings.add(jobs)
    assert holdings.empties(jobs[:1]) == []
    assert holdings.empties(jobs[1:]) == [1, 2]
    holdings.recount(jobs[2])
    assert holdings.empties(jobs[2:]) == [2]
    holdings.drop(jobs)
    assert len(holdings) == 0
