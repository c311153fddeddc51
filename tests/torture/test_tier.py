"""The small tier: minutes of kills, crashes and cut networks. Everything must hold, and it must have been hard."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import majors
from tests.programs import require
from torture.clocks import find_library
from torture.paths import ROOT


@pytest.mark.timeout(600)
def test_everything_holds_under_torture() -> None:
    require(majors(), "PostgreSQL programs")
    told = subprocess.run([sys.executable, "-m", "torture", "--tier", "test"], cwd=ROOT, capture_output=True, text=True)
    print(told.stdout)
    assert told.returncode == 0, told.stdout + told.stderr[-2000:]
    assert told.stdout.rstrip().endswith("HELD")
    # Everything else was tried; only the clocks were right.
    require(find_library(), "libfaketime")
    assert "workers had clocks that were off by hours" in told.stdout
