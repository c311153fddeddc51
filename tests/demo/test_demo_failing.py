"""A demo that does not end as it should says so, and which expectation it was."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.demo.performances import PATIENCE, PROGRAM, Performance

pytestmark = [pytest.mark.xdist_group("demo"), pytest.mark.timeout(2 * PATIENCE)]


def test_an_outcome_other_than_expected(perform: Callable[..., Performance], nothing_left: Callable[[], None]) -> None:
    # The workers, processes of their own, still fail twice.
    demo = perform(program=f"import howdah.demo.expectations as e; e.FAILURES_OF_THE_SERVICE = 1; {PROGRAM}")
    assert demo.end() == 1, demo.output
    assert "NOT AS EXPECTED: 1 errors, not 2" in demo.output
    assert "call_flaky_api: expected 1 errors, not 2" in demo.output
    assert "Everything ended as expected" not in demo.output
    nothing_left()


def test_workers_that_cannot_work(perform: Callable[..., Performance], nothing_left: Callable[[], None]) -> None:
    broken = "import howdah.demo.show as s; s.LABELS = 'labels=nonsense'"
    demo = perform(program=f"{broken}; {PROGRAM}")
    assert demo.end() == 1, demo.output
    assert "worker B left with exit code 1: ValueError" in demo.output
    assert "encode_film: expected status completed" in demo.output
    nothing_left()


def test_without_rich_a_terminal_gets_lines(
    perform: Callable[..., Performance], nothing_left: Callable[[], None]
) -> None:
    hide = "import importlib.util as u; find = u.find_spec; u.find_spec = lambda n: None if n == 'rich' else find(n)"
    demo = perform(terminal=True, program=f"{hide}; {PROGRAM}")
    demo.wait_for("encode_film         running")
    assert "\x1b" not in demo.output
    demo.process.terminate()
    demo.end()
    nothing_left()
