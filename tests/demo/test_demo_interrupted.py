"""However a demo ends, nothing of it stays."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.demo.performances import PATIENCE, Performance, processes_of
from tests.rig.waiting import until

pytestmark = [pytest.mark.xdist_group("demo"), pytest.mark.timeout(2 * PATIENCE)]

AT_THE_START = "a dozen jobs"
UNDER_WAY = "find_primes         running"


@pytest.mark.parametrize("moment", [AT_THE_START, UNDER_WAY])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_tidily(
    perform: Callable[[], Performance], nothing_left: Callable[[], None], number: signal.Signals, moment: str
) -> None:
    demo = perform()
    demo.wait_for(moment)
    demo.process.send_signal(number)
    assert demo.end() == 128 + number, demo.output
    assert "howdah: interrupted; workers and server are stopped" in demo.output
    assert "Traceback" not in demo.output
    nothing_left()


def test_impatience_does_not_keep_it_from_clearing_up(
    perform: Callable[[], Performance], nothing_left: Callable[[], None]
) -> None:
    demo = perform()
    demo.wait_for(UNDER_WAY)
    while demo.process.poll() is None:
        demo.process.send_signal(signal.SIGINT)
    # The last one may find the interpreter past its last line, when nobody listens any more.
    assert demo.end() in (130, -signal.SIGINT), demo.output
    assert "Traceback" not in demo.output
    nothing_left()


def test_killed_it_takes_workers_and_server_along(place: Path, perform: Callable[[], Performance]) -> None:
    demo = perform()
    demo.wait_for(UNDER_WAY)
    assert len(processes_of(place)) > 4
    demo.process.kill()
    demo.end()
    until(lambda: not processes_of(place), "workers, server and keeper are gone")
