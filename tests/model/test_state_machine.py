"""The queue beside its model: programs of random statements over several connections, on a real server."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.model import interleaved_machine, strict_machine
from tests.model.running import STEPS, TIME_LIMIT, run_steps, share_of
from tests.model.statements import Sql

#: Two parts of the steps are strict and two interleaved, so that two processes share the work.
PARTS = 4
pytestmark = pytest.mark.timeout(TIME_LIMIT)


@pytest.mark.parametrize("part", [0, 1])
def test_every_answer_of_the_sql_surface_is_the_models(links: Sequence[Sql], part: int) -> None:
    machine = strict_machine.bound(links)
    assert run_steps(machine, share_of(part, PARTS), part) >= share_of(part, PARTS)


@pytest.mark.parametrize("part", [2, 3])
def test_open_transactions_strand_nothing_and_let_nothing_wrong_through(links: Sequence[Sql], part: int) -> None:
    machine = interleaved_machine.bound(links)
    steps = run_steps(machine, share_of(part, PARTS), part)
    assert steps >= share_of(part, PARTS)
    # Too easy is a failure: transactions must have been open beside others, and some statements must have refused.
    assert machine.overlaps > steps / 4
    assert machine.refusals > steps / 100


def test_the_parts_are_all_the_steps() -> None:
    assert sum(share_of(part, PARTS) for part in range(PARTS)) == STEPS >= 5000
