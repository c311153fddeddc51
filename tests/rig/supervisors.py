"""`howdah worker --processes N` for tests that kill it and its workers."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

from tests.rig.processes import ROOT
from tests.rig.waiting import until

JOBS = "tests.rig.killable:app"


class SupervisorProcess:
    """In a session of its own, as a service or in a terminal of its own."""

    def __init__(
        self,
        environment: dict[str, str],
        *options: str,
        app: str = JOBS,
        folder: Path = ROOT,
        log: Path,
        terminal: int | None = None,
    ) -> None:
        self.log_file = log
        arguments = ["worker", app, "--poll", "200ms", *options]
        in_terminal: dict[str, Any] = (
            {} if terminal is None else {"stdin": terminal, "preexec_fn": lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)}
        )
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "howdah", *arguments],
                cwd=folder,
                env={**os.environ, **environment},
                stderr=stderr,
                start_new_session=True,
                **in_terminal,
            )

    @property
    def log(self) -> str:
        return self.log_file.read_text()

    def wait_for(self, pattern: str, times: int = 1) -> list[Any]:
        """Wait until the log says it; all places where it does."""
        until(
            lambda: len(re.findall(pattern, self.log)) >= times or self.process.poll() is not None,
            f"{pattern!r} is in the log",
        )
        found = re.findall(pattern, self.log)
        assert len(found) >= times, self.log
        return found

    def ready(self) -> SupervisorProcess:
        self.wait_for("ready: [0-9]+ processes")
        return self

    def pids(self) -> list[int]:
        """Of all workers that were ever started."""
        return [int(pid) for pid in re.findall(r"starting a worker worker=\d+ pid=(\d+)", self.log)]

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait(self) -> int:
        return self.process.wait(40)

    def all_gone(self) -> bool:
        """Whether no worker is left."""
        return all(map(is_gone, self.pids()))

    def kill(self) -> None:
        """The supervisor and whoever is left of its workers."""
        self.process.kill()
        self.process.wait(20)
        for pid in self.pids():
            if not is_gone(pid):
                os.kill(pid, signal.SIGKILL)


def is_gone(pid: int) -> bool:
    """Whether the process has ended, even if nobody has asked how."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return True
    except FileNotFoundError:
        return os.path.isdir("/proc/self")
    return state in "ZX"
