"""PostgreSQL itself is killed under load and comes back."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from howdah import Howdah, HowdahError
from howdah.db.catalog import Catalog
from howdah.db.migrator import migrate
from howdah.embedded.server import EmbeddedServer, ServerSettings
from tests.conftest import majors
from tests.programs import require
from tests.rig import killable
from tests.rig.processes import Ledger, WorkerProcess
from tests.rig.waiting import until


@pytest.fixture
def durable() -> Iterator[EmbeddedServer]:
    """A server of this test's own, with durable commits: it is going to be killed."""
    require(majors(), "PostgreSQL programs")
    folder = Path(tempfile.mkdtemp(prefix="howdah-test-", dir="/var/tmp"))
    folder.chmod(0o755)
    settings = ServerSettings(postgres={"max_connections": "100"})
    server = EmbeddedServer(folder, binaries=next(iter(majors().values())), settings=settings)
    url = server.acquire()
    with psycopg.connect(url, autocommit=True) as connection:
        migrate(connection, Catalog())
    yield server
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)


class Producer(threading.Thread):
    """Enqueues as fast as it can and remembers what was acknowledged."""

    def __init__(self, app: Howdah) -> None:
        super().__init__()
        self.acknowledged: list[Any] = []
        self.refused = 0
        self._app = app
        self._over = threading.Event()

    def run(self) -> None:
        quick = self._app.definition("quick")
        n = 0
        while not self._over.is_set():
            n += 1
            try:
                self.acknowledged.append(quick.enqueue(n).id)
            except HowdahError:
                self.refused += 1

    def must_get_further(self, what: str) -> None:
        target = len(self.acknowledged) + 300
        until(lambda: len(self.acknowledged) > target, what)

    def finish(self) -> None:
        self._over.set()
        self.join(60)
        assert not self.is_alive()


def crash(server: EmbeddedServer) -> None:
    pid = server.status().pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    until(lambda: server.restart_if_dead() or server.status().pid not in (None, pid), "the server is back")


def test_kill_of_postgres_under_load_loses_and_doubles_nothing(durable: EmbeddedServer, tmp_path: Path) -> None:
    url = durable.url()
    ledger = Ledger(tmp_path / "ledger")
    app = Howdah(url)
    app.include(killable.app)
    workers = [WorkerProcess(url, ledger.path, silence=5, poll=0.2).ready() for _ in range(2)]
    producer = Producer(app)
    producer.start()
    try:
        for round_ in range(3):
            producer.must_get_further(f"load before crash {round_}")
            crash(durable)
        producer.must_get_further("load after the last crash")
        producer.finish()
        with psycopg.connect(url, autocommit=True) as sql:
            until(
                lambda: sql.execute("SELECT count(*) FROM howdah.jobs WHERE status <> 'completed'").fetchone() == (0,),
                "workers resumed by themselves and finished everything",
            )
            kept = {row[0] for row in sql.execute("SELECT id FROM howdah.jobs").fetchall()}
            ends = sql.execute("SELECT max(attempts), sum(attempts - 1) FROM howdah.jobs").fetchone()
    finally:
        for worker in workers:
            worker.kill()
        app.close()
    assert set(producer.acknowledged) <= kept, "an acknowledged enqueue was lost"
    # A job may have run twice (its claim or its end was lost with the server), never without a claim that says so.
    runs = Counter((line[1], line[2]) for line in ledger.lines() if line[0] == "quick")
    assert ends is not None
    assert max(runs.values()) == 1, "one claim ran twice"
    print(f"acknowledged {len(producer.acknowledged)}, refused {producer.refused}, claimed again {ends[1]}")
