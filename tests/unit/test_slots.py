"""Who may start and how many more to claim: decided without a clock or a database in sight."""

from __future__ import annotations

import time
from typing import Any

from howdah.model.job_id import new_job_id
from howdah.worker.held import Held, Stop
from howdah.worker.slots import LARGEST_BUFFER, SUSPECTS_TOGETHER, Pool, Slots, make_pools
from howdah.worker.store import ClaimedJob, Haul


def held(queue: str = "default", priority: int = 100, deaths: int = 0, created_at: float = 0.0) -> Held:
    job_id = new_job_id().bytes
    return Held(ClaimedJob(1, job_id, 1, "t", queue, priority, created_at, "{}", 1, 3, 0, deaths, 0))


def haul(*jobs: Held) -> Haul:
    return Haul([one.job for one in jobs], more=False, due=None)


def slots(**queues: int | None) -> Slots:
    return Slots(make_pools(dict(queues) or {"default": None}, 2))


def drain(which: Slots) -> list[Held]:
    started = []
    while (one := which.start_next()) is not None:
        started.append(one)
    return started


def test_best_first_and_never_more_than_the_limit() -> None:
    which = slots()
    low, high, middle = held(priority=1), held(priority=3), held(priority=2)
    which.admit([low, high, middle])
    assert drain(which) == [high, middle]
    which.free(high)
    assert drain(which) == [low]


def test_equal_priorities_go_by_age_then_id() -> None:
    which = slots(default=5)
    first, second, third = held(created_at=1.0), held(created_at=2.0), held(created_at=2.0)
    which.admit([third, second, first])
    assert drain(which) == [first, second, third]


def test_pools_have_slots_of_their_own_and_priority_holds_across_them() -> None:
    which = slots(a=1, b=1)
    jobs: dict[str, Any] = {"a1": held("a", 1), "a9": held("a", 9), "b5": held("b", 5)}
    which.admit(list(jobs.values()))
    assert drain(which) == [jobs["a9"], jobs["b5"]]
    which.free(jobs["a9"])
    assert drain(which) == [jobs["a1"]]


def test_demand_is_what_is_free_and_stops_when_nothing_is_left_to_hope_for() -> None:
    which = slots(a=3, b=1)
    demand = which.demand()
    assert demand is not None
    assert (demand.batch, demand.queues, demand.limits, demand.pools) == (4, ["a", "b"], [3, 1], [0, 1])
    full = held("b")
    which.admit([full])
    which.answered(demand, haul(full))
    drain(which)
    # Pool a got nothing, pool b all that it asked for: only b is worth asking for again, and it is full.
    assert which.demand() is None
    which.free(full)
    again = which.demand()
    assert again is not None
    assert "b" in again.queues
    which.answered(again, haul())
    assert which.demand() is None
    which.stir()
    assert which.demand() is not None


def test_queues_that_share_a_pool_share_its_limit() -> None:
    which = slots(x=None, y=None, z=1)
    demand = which.demand()
    assert demand is not None
    assert dict(zip(demand.queues, zip(demand.limits or (), demand.pools or (), strict=True), strict=True)) == {
        "x": (2, 1),
        "y": (2, 1),
        "z": (1, 0),
    }
    assert demand.batch == 3


def test_prefetch_follows_the_rate_and_is_bounded() -> None:
    pool = Pool(["default"], 10)
    assert pool.wanted() == 10
    pool.finished, pool.measured = 1000, time.monotonic() - 1.0
    pool.measure()
    assert 45 <= pool.prefetch() <= 50
    pool.finished, pool.measured = 10_000_000, time.monotonic() - 1.0
    pool.measure()
    assert pool.prefetch() == LARGEST_BUFFER
    # It falls by half with each idle look, and takes a rise at once.
    before = pool.rate
    pool.finished, pool.measured = 0, time.monotonic() - 1.0
    pool.measure()
    assert pool.rate == before / 2


def test_few_suspects_start_together_and_hold_up_nobody_else() -> None:
    which = slots(default=20)
    together = [held(deaths=1, priority=9) for _ in range(SUSPECTS_TOGETHER)]
    later, clean = held(deaths=1, priority=8), held(priority=1)
    which.admit([*together, later, clean])
    assert drain(which) == [*together, clean]
    assert which.next_suspect_in() is not None
    together[0].started = time.monotonic() - 0.2
    assert drain(which) == [later]
    assert which.next_suspect_in() is None


def test_a_suspect_that_has_ended_makes_room_for_the_next() -> None:
    which = slots(default=20)
    together = [held(deaths=1, priority=9) for _ in range(SUSPECTS_TOGETHER)]
    later = held(deaths=1, priority=8)
    which.admit([*together, later])
    drain(which)
    which.free(together[0])
    assert drain(which) == [later]


def test_suspects_that_wait_do_not_keep_a_worker_from_claiming_more() -> None:
    pool = Pool(["default"], 5)
    which = Slots([pool])
    which.admit([held(deaths=2) for _ in range(6)])
    assert len(drain(which)) == 1, "one of them starts, four slots are free"
    demand = which.demand()
    assert demand is not None
    assert demand.batch == 4
    which.admit([held(deaths=2) for _ in range(9)])
    assert pool.wanted() == 0, "but no more and more of them"


def test_after_two_deaths_a_suspect_waits_until_the_others_have_proved_harmless() -> None:
    which = slots(default=5)
    first, twice = held(deaths=1, priority=9), held(deaths=2, priority=8)
    which.admit([first, twice])
    assert drain(which) == [first]
    first.started = time.monotonic() - 5
    assert drain(which) == []
    which.free(first)
    assert drain(which) == [twice]
    third = held(deaths=1)
    which.admit([third])
    twice.started = time.monotonic() - 5
    assert drain(which) == []
    twice.started = time.monotonic() - 11
    assert drain(which) == [third]


def test_what_has_not_started_can_be_given_back() -> None:
    which = slots(default=1)
    jobs = [held(), held(), held(deaths=1)]
    which.admit(jobs)
    started = drain(which)
    assert len(started) == 1
    assert set(map(id, which.take_waiting())) == set(map(id, jobs)) - {id(started[0])}
    which.free(started[0])
    assert drain(which) == []


def test_what_waits_too_long_is_given_back_and_the_pool_slows_down() -> None:
    which = slots(default=1)
    running, fresh, overdue, suspect = held(priority=900), held(), held(), held(deaths=1)
    which.admit([running, fresh, overdue, suspect])
    assert drain(which) == [running]
    pool = which._pools[0]
    pool.rate = 1000.0
    overdue.admitted = suspect.admitted = time.monotonic() - 2
    assert which.take_overdue() == [overdue]
    assert pool.rate == 0.0
    suspect.admitted = time.monotonic() - 60
    assert which.take_overdue() == [suspect]
    assert which.take_waiting() == [fresh]


def test_what_was_cancelled_or_lost_while_it_waited_need_not_wait_for_a_slot() -> None:
    which = slots(default=1)
    running, cancelled, lost, other = held(priority=900), held(), held(), held()
    which.admit([running, cancelled, lost, other])
    drain(which)
    cancelled.interrupt_for(Stop.CANCEL)
    lost.interrupt_for(Stop.LOST)
    assert set(map(id, which.take_interrupted())) == {id(cancelled), id(lost)}
    assert which.take_waiting() == [other]
