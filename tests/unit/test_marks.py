"""When a claim begins at the near marks, at the far ones, or at the head of the line."""

from __future__ import annotations

import pytest

from howdah.worker import marks as module
from howdah.worker.marks import Marks, Start
from howdah.worker.store import Haul, Place

FAR = Place("far", "strays", "seen")


class Clock:
    """A clock that the test moves."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def haul(more: bool, looked: float = 0.0, near: str = "near") -> Haul:
    return Haul([], more, None, Place(near), FAR, looked)


def learnt(more: bool, looked: float = 0.0) -> Marks:
    marks = Marks()
    assert marks.choose() == (Start.HEAD, Place())
    marks.learn(Start.HEAD, haul(more, looked))
    return marks


def test_a_flood_goes_on_at_the_near_marks_and_looks_back_every_half_second(clock: Clock) -> None:
    marks = learnt(more=True, looked=1.0)
    assert marks.choose() == (Start.NEAR, Place("near"))
    marks.learn(Start.NEAR, haul(more=True, near="nearer"))
    assert marks.choose() == (Start.NEAR, Place("nearer"))
    clock.now += 0.6
    assert marks.choose() == (Start.FAR, FAR)
    marks.learn(Start.FAR, haul(more=True))
    assert marks.choose()[0] is Start.NEAR


def test_with_little_to_do_every_claim_looks_back(clock: Clock) -> None:
    marks = learnt(more=False, looked=1.0)
    for _ in range(3):
        assert marks.choose() == (Start.FAR, FAR)
        marks.learn(Start.FAR, haul(more=False))


def test_the_head_is_looked_at_often_while_cheap_and_seldom_when_dear(clock: Clock) -> None:
    cheap, dear = learnt(more=True, looked=0.001), learnt(more=True, looked=2.0)
    clock.now += 0.6
    assert (cheap.choose()[0], dear.choose()[0]) == (Start.HEAD, Start.FAR)
    clock.now += 25
    dear.learn(Start.FAR, haul(more=True))
    assert dear.choose()[0] is Start.NEAR
    clock.now += 75
    assert dear.choose()[0] is Start.HEAD


def test_who_was_out_of_touch_or_has_forgotten_begins_at_the_head(clock: Clock) -> None:
    marks = learnt(more=True, looked=100.0)
    clock.now += 31
    assert marks.choose()[0] is Start.HEAD, "the list of what committed late is kept for a minute only"
    marks.learn(Start.HEAD, haul(more=True, looked=100.0))
    assert marks.choose()[0] is Start.NEAR
    marks.forget()
    assert marks.choose()[0] is Start.HEAD


def test_a_claim_without_marks_leaves_nothing_to_begin_at(clock: Clock) -> None:
    marks = Marks()
    marks.learn(Start.HEAD, Haul([], True, None))
    assert marks.choose() == (Start.HEAD, Place())
