"""A place for demos, and a look afterwards that nothing of them is left."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from howdah.embedded.binaries import all_binaries
from tests.demo.performances import Performance, processes_of
from tests.programs import require
from tests.rig.waiting import until


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder with a space in its name that every account may enter."""
    require(all_binaries(), "PostgreSQL programs")
    made = Path(tempfile.mkdtemp(prefix="howdah test-", dir="/var/tmp"))
    made.chmod(0o755)
    yield made
    until(lambda: not processes_of(made), f"nothing of {made} is running")
    shutil.rmtree(made)


@pytest.fixture
def nothing_left(place: Path) -> Callable[[], None]:
    """Fails if a demo that has ended left a process or a file. A process killed takes a moment to die."""

    def check() -> None:
        until(lambda: not processes_of(place), f"nothing of {place} is running", seconds=2)
        assert list(place.iterdir()) == []

    return check


@pytest.fixture
def perform(place: Path) -> Iterator[Callable[..., Performance]]:
    """Starts demos; any that is left is killed."""
    started: list[Performance] = []

    def start(**options: Any) -> Performance:
        started.append(Performance(place, **options))
        return started[-1]

    yield start
    for performance in started:
        performance.close()
