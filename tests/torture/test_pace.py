"""Producers offer at one pace all in all, whenever each of them starts."""

from __future__ import annotations

import pytest

from torture.producer import Pace
from torture.producers import share


def test_who_is_alone_offers_for_all() -> None:
    pace = Pace(jobs=750, seconds=100.0, alone_jobs=500, alone_seconds=50.0)
    assert [pace.due(offered) for offered in (0, 250, 500, 625, 750)] == pytest.approx([0, 25, 50, 75, 100])


def test_without_others_to_come_the_pace_is_even() -> None:
    assert [Pace(10, 5.0).due(offered) for offered in (0, 5, 10)] == pytest.approx([0, 2.5, 5])


@pytest.mark.parametrize("alone", [0.0, 0.33, 0.5, 0.9])
def test_shares_make_up_the_whole(alone: float) -> None:
    shares = [share(300_001, number, 3, alone) for number in (1, 2, 3)]
    assert sum(shares) == 300_001
    assert shares[1] == shares[2] == int(300_001 * (1 - alone) / 3)
