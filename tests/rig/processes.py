"""Worker processes for tests that kill them: real processes, real signals, and a ledger outside the database.

A handler writes what it does into a file with one small append per line, which is whole even if the next instruction
kills the process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.rig.waiting import until

ROOT = Path(__file__).parents[2]


class WorkerProcess:
    """`python -m tests.rig.worker_main` on the jobs of tests/rig/killable.py."""

    def __init__(self, url: str, ledger: Path, **settings: Any) -> None:
        environment = {**os.environ, "HOWDAH_URL": url, "LEDGER": str(ledger), "SETTINGS": json.dumps(settings)}
        self.log = ledger.with_name(f"worker-{len(list(ledger.parent.glob('worker-*')))}.log")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.rig.worker_main"], cwd=ROOT, env=environment, stdout=log, stderr=log
            )
        self.pid = self.process.pid

    def ready(self) -> WorkerProcess:
        until(lambda: "worker started" in self.log.read_text() or self.process.poll() is not None, "worker started")
        assert self.process.poll() is None, self.log.read_text()
        return self

    def signal(self, which: signal.Signals) -> None:
        os.kill(self.pid, which)

    def kill(self) -> None:
        if self.process.poll() is None:
            # A stopped process is killed all the same.
            self.process.kill()
        self.process.wait(20)

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(30)


class Ledger:
    """What handlers did, outside the system under test."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()

    def lines(self) -> list[list[str]]:
        return [line.split() for line in self.path.read_text().splitlines()]

    def count(self, *words: str) -> int:
        return sum(1 for line in self.lines() if line[: len(words)] == list(words))

    def await_line(self, *words: str) -> list[str]:
        def find() -> list[str] | None:
            return next((line for line in self.lines() if line[: len(words)] == list(words)), None)

        found = until(find, f"the ledger says {words}")
        assert found is not None
        return found
