"""How many steps the machines take, from which seeds, and that they were really taken.

HOWDAH_MODEL_STEPS says how many in all (5,000 unless told), HOWDAH_MODEL_SEED where the seeds begin; the same seeds
give the same programs. HOWDAH_MODEL_SHRINK=1 makes a failing program as short as it can be, which takes its time.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any
from unittest import mock

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture.engine import ConjectureRunner
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

STEPS = int(os.environ.get("HOWDAH_MODEL_STEPS", "5000"))
FIRST_SEED = int(os.environ.get("HOWDAH_MODEL_SEED", "1"))
STEPS_PER_PROGRAM = 80
_PROGRAMS_AT_ONCE = 100
#: Seconds; a step takes a tenth of that. The least is what every test has.
TIME_LIMIT = max(120.0, 0.1 * STEPS)
_SEEDS_PER_SHARE = 1_000_000


def share_of(part: int, parts: int, steps: int = STEPS) -> int:
    """How many of the steps this part of the tests takes."""
    return steps // parts + (1 if part < steps % parts else 0)


def run_steps(machine: type[RuleBasedStateMachine], steps: int, share: int = 0, *, at_once: int = 0) -> int:
    """Run programs of this machine until it has taken so many steps; the number that it took."""
    shrinks = os.environ.get("HOWDAH_MODEL_SHRINK") == "1"
    number = FIRST_SEED + share * _SEEDS_PER_SHARE
    while (left := steps - steps_of(machine)) > 0:
        programs = min(at_once or _PROGRAMS_AT_ONCE, math.ceil(left / STEPS_PER_PROGRAM))
        plan = settings(
            max_examples=programs,
            stateful_step_count=STEPS_PER_PROGRAM,
            phases=(Phase.generate, Phase.shrink) if shrinks else (Phase.generate,),
            suppress_health_check=list(HealthCheck),
            deadline=None,
            database=None,
            report_multiple_bugs=False,
        )
        before = steps_of(machine)
        try:
            with _every_program_new():
                run_state_machine_as_test(seed(number)(machine), settings=plan)
        except BaseException as error:
            error.add_note(f"after {steps_of(machine)} steps, with HOWDAH_MODEL_SEED={number}")
            raise
        assert steps_of(machine) > before, "the machine stands still"
        number += 1
    return steps_of(machine)


def _every_program_new() -> AbstractContextManager[object]:
    """Left alone, hypothesis makes five programs out of six by repeating parts of the one before, which looks at less
    for the same number of steps. There is no public way to tell it; the version is pinned."""
    return mock.patch.object(ConjectureRunner, "generate_mutations_from", return_value=None)


def weigh(machine: RuleBasedStateMachine, weights: Mapping[str, int]) -> None:
    """Draw some rules more often than others, and all of them in every program.

    Left alone, hypothesis leaves half of the rules out of each program, and a queue into which nothing is put, or out
    of which nothing is claimed, has nothing to say. There is no public way to tell it; the version is pinned.
    """
    strategy: Any = machine._rules_strategy
    rules = [rule for rule in strategy.rules for _ in range(weights.get(rule.function.__name__, 1))]
    assert weights.keys() <= {rule.function.__name__ for rule in rules}
    strategy.enabled_rules_strategy = st.none()
    strategy._enabled_rules_strategy = st.sampled_from(rules)


def steps_of(machine: type[RuleBasedStateMachine]) -> int:
    """How many steps the machine has really taken."""
    return int(machine.steps)  # type: ignore[attr-defined]  # both machines count
