"""Worker processes on the test's database, gone when the test is over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from howdah import Howdah
from tests.conftest import Database
from tests.rig import killable
from tests.rig.processes import Ledger, WorkerProcess


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger")


@pytest.fixture
def start_worker(database: Database, ledger: Ledger) -> Iterator[Callable[..., WorkerProcess]]:
    started: list[WorkerProcess] = []

    def start(**settings: Any) -> WorkerProcess:
        quick = {"silence": 2, "poll": 0.2, "grace": 5}
        started.append(WorkerProcess(database.url, ledger.path, **{**quick, **settings}))
        return started[-1].ready()

    yield start
    for worker in started:
        worker.kill()


@pytest.fixture
def jobs(make_app: Callable[..., Howdah]) -> Howdah:
    """The killable job types, enqueued from here."""
    app = make_app()
    app.include(killable.app)
    return app
