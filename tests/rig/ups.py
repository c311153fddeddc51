"""`howdah up` for tests that change its code, stop it and kill it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from tests.rig.supervisors import is_gone
from tests.rig.waiting import until

JOBS = """
import asyncio, os
from howdah import Howdah

app = Howdah()
WORD = "hello"

@app.job()
async def greet(name: str) -> str:
    return f"{WORD} {name}"

@app.job()
async def wait_for(path: str) -> str:
    while not os.path.exists(path):
        await asyncio.sleep(0.02)
    return WORD
"""


class UpProcess:
    """In a session of its own, as in a terminal of its own."""

    def __init__(self, folder: Path, url: str | None, *options: str, app: str = "shop.jobs:app") -> None:
        self.folder = folder
        self.out_file, self.log_file = folder / "up.out", folder / "up.log"
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("HOWDAH_URL", "PG"))}
        environment = {**inherited, **({"HOWDAH_URL": url} if url is not None else {})}
        with self.out_file.open("wb") as out, self.log_file.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "howdah", "up", app, "--port", "0", *options],
                cwd=folder,
                env=environment,
                stdout=out,
                stderr=log,
                start_new_session=True,
            )

    @property
    def log(self) -> str:
        return self.log_file.read_text()

    @property
    def out(self) -> str:
        return self.out_file.read_text()

    def wait_for(self, pattern: str, times: int = 1) -> UpProcess:
        """Wait until the log says it."""
        until(
            lambda: len(re.findall(pattern, self.log)) >= times or self.process.poll() is not None,
            f"{pattern!r} is in the log {times} times",
        )
        assert len(re.findall(pattern, self.log)) >= times, self.log
        return self

    def ready(self) -> UpProcess:
        return self.wait_for("the worker is ready")

    def workers(self) -> list[int]:
        """Of all workers that were ever started."""
        return [int(pid) for pid in re.findall(r"worker started worker_id=\S+?:(\d+):", self.log)]

    def all_gone(self) -> bool:
        return all(map(is_gone, self.workers()))

    def stop(self, number: signal.Signals) -> int:
        """Signal it and wait for its end."""
        self.process.send_signal(number)
        return self.process.wait(40)

    def kill(self) -> None:
        """It and whoever is left of its workers."""
        self.process.kill()
        self.process.wait(20)
        for pid in self.workers():
            if not is_gone(pid):
                os.kill(pid, signal.SIGKILL)


def project(folder: Path) -> Path:
    """A folder with a package of jobs in it; the file to change."""
    code = folder / "shop" / "jobs.py"
    code.parent.mkdir()
    (code.parent / "__init__.py").touch()
    code.write_text(JOBS)
    return code
