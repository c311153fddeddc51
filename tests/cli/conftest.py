"""A folder with an app in it, and the `howdah` command run there as users run it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.answers import Answer
from tests.conftest import Database
from tests.rig.waiting import until

JOBS = """
import asyncio
import time
from datetime import date

from howdah import Fail, Howdah, JobContext

app = Howdah()


@app.job(queue="videos", max_attempts=5)
async def encode(ctx: JobContext, video: int, preset: str = "hd") -> dict:
    for part in range(video):
        ctx.event("part-done", {"part": part})
    ctx.progress(50, stage="encoding")
    return {"url": f"{video}/{preset}"}


@app.job()
async def report(day: date) -> str:
    return f"{day:%A}"


@app.job()
async def broken() -> None:
    raise Fail("it is broken")


@app.job()
async def nap(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "rested"


@app.job()
def block(seconds: float) -> str:
    time.sleep(seconds)
    return "rested"


@app.job()
async def stubborn(seconds: float) -> str:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            pass
    return "rested"
"""
UUID_PATTERN = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


@dataclass
class Shell:
    """Runs `howdah` in a folder. `environment` holds what the command finds set."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def __call__(self, *arguments: object, script: bool = False, stdin: str = "") -> Answer:
        done = subprocess.run(
            self.command(*arguments, script=script),
            cwd=self.folder,
            env=self._environment(),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def command(self, *arguments: object, script: bool = False) -> list[str]:
        """`script`: the installed `howdah`, which unlike `python -m` does not find modules of the current directory."""
        start = [str(Path(sys.executable).with_name("howdah"))] if script else [sys.executable, "-m", "howdah"]
        return [*start, *map(str, arguments)]

    @contextmanager
    def worker(self, *arguments: object, script: bool = False) -> Iterator[WorkerProcess]:
        """A worker that is killed at the end, should it still run."""
        log = self.folder / f"worker-{len(list(self.folder.glob('worker-*')))}.log"
        with log.open("w") as stderr:
            process = subprocess.Popen(
                self.command("worker", "jobs:app", "--grace", "20s", *arguments, script=script),
                cwd=self.folder,
                env=self._environment(),
                stderr=stderr,
            )
        try:
            yield WorkerProcess(process, log)
        finally:
            process.kill()
            process.wait(20)

    def _environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("HOWDAH_URL", "PG"))}
        return {**inherited, **self.environment}


@dataclass
class WorkerProcess:
    process: subprocess.Popen[bytes]
    log_file: Path

    @property
    def log(self) -> str:
        return self.log_file.read_text()

    def wait_for(self, pattern: str) -> WorkerProcess:
        """Wait until the log holds it."""
        until(lambda: re.search(pattern, self.log) or self.process.poll() is not None, f"{pattern!r} is in the log")
        assert re.search(pattern, self.log), self.log
        return self

    def signal_and_wait(self, *numbers: int) -> int:
        for number in numbers:
            self.process.send_signal(number)
        return self.process.wait(40)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "jobs.py").write_text(JOBS)
    return tmp_path


@pytest.fixture
def howdah(folder: Path, database: Database) -> Shell:
    """The command, with HOWDAH_URL pointing to the test's database."""
    return Shell(folder, {"HOWDAH_URL": database.url})


@pytest.fixture
def nowhere(folder: Path) -> Shell:
    """The command, with no database set."""
    return Shell(folder)


@pytest.fixture
def status_of(sql: psycopg.Connection[Any]) -> Callable[[str], str]:
    def ask(job_id: str) -> str:
        row = sql.execute("SELECT status FROM jobs WHERE id = %s", (job_id,)).fetchone()
        assert row is not None
        return str(row[0])

    return ask
