"""The small tiers: minutes of kills, crashes and cut networks. Everything must hold, and it must have been hard."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import majors
from tests.programs import require
from torture.__main__ import cannot_run
from torture.clocks import find_library
from torture.paths import ROOT
from torture.tiers import TIERS


def run(tier: str) -> str:
    """What the rig says about it, if everything held."""
    require(majors(), "PostgreSQL programs")
    if (reason := cannot_run(TIERS[tier])) is not None:
        pytest.skip(reason)
    told = subprocess.run([sys.executable, "-m", "torture", "--tier", tier], cwd=ROOT, capture_output=True, text=True)
    print(told.stdout)
    assert told.returncode == 0, told.stdout + told.stderr[-2000:]
    assert told.stdout.rstrip().endswith("HELD")
    return told.stdout


@pytest.mark.long
@pytest.mark.timeout(600)
def test_everything_holds_under_torture() -> None:
    told = run("test")
    # Everything else was tried; only the clocks were right.
    require(find_library(), "libfaketime")
    assert "workers had clocks that were off by hours" in told


@pytest.mark.long
@pytest.mark.timeout(600)
def test_everything_holds_in_a_failover_and_a_rolling_deploy() -> None:
    told = run("changes")
    assert "every commit waited for a synchronous standby" in told
    assert "workers and one producer began with" in told


@pytest.mark.long
@pytest.mark.timeout(600)
def test_everything_holds_when_the_disk_is_full() -> None:
    run("disk")
