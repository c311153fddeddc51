"""The demo's worker processes: started, killed on purpose, replaced, stopped.

A worker is one incarnation: the successor of A is A2, because a queue must never take a new process for its dead
predecessor.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

STOP_SECONDS = 6.0
#: The show needs four; more means that something kills workers behind its back.
MOST_SUCCESSORS = 12


class DemoFailed(Exception):
    """The demo cannot go on, or did not end as it should."""


class Workers:
    """All worker processes of one demo."""

    def __init__(self, log_folder: Path) -> None:
        self._log_folder = log_folder
        self._living: dict[str, subprocess.Popen[bytes]] = {}
        self._queues: dict[str, tuple[str, ...]] = {}
        self.process_ids: dict[str, int] = {}

    @property
    def living(self) -> frozenset[str]:
        """Names of those that have not been seen dead."""
        return frozenset(self._living)

    def start(self, name: str, *queues: str) -> None:
        """Start a worker that serves these queues, each written `name` or `name=concurrency`."""
        if len(self.process_ids) > MOST_SUCCESSORS:
            raise DemoFailed(f"workers keep dying; the last words of {name}: {self._last_words(name)}")
        with self._log(name).open("ab") as log:
            # A session of its own: Ctrl-C in the terminal is for the demo, which then stops its workers itself.
            # -P: what lies in the caller's folder must not be imported in place of a library.
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "howdah.demo.worker_process", name, *queues],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._living[name] = process
        self._queues[name] = queues
        self.process_ids[name] = process.pid

    def kill(self, name: str) -> int:
        """SIGKILL, as the system does when memory runs out; the process id it had."""
        process = self._living.pop(name)
        _end(process)
        return process.pid

    def replace_dead(self) -> list[tuple[str, str]]:
        """Start a successor for each worker that was killed since the last look: (dead, successor)."""
        replaced = []
        for name, process in list(self._living.items()):
            if not _is_dead(process):
                continue
            del self._living[name]
            code = _end(process)
            if code != -signal.SIGKILL:
                raise DemoFailed(f"worker {name} left with exit code {code}: {self._last_words(name)}")
            successor = successor_of(name)
            self.start(successor, *self._queues[name])
            replaced.append((name, successor))
        return replaced

    def stop(self) -> None:
        """Stop them all in peace, and by force whoever takes too long."""
        for process in self._living.values():
            process.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        while time.monotonic() < deadline and not all(map(_is_dead, self._living.values())):
            time.sleep(0.02)
        self.stop_at_once()

    def stop_at_once(self) -> None:
        """Kill them all: nothing that they hold is wanted any more."""
        for name in list(self._living):
            self.kill(name)

    def _log(self, name: str) -> Path:
        return self._log_folder / f"worker-{name}.log"

    def _last_words(self, name: str) -> str:
        try:
            lines = self._log(name).read_text(errors="replace").strip().splitlines()
        except FileNotFoundError:
            return "none"
        return lines[-1] if lines else "none"


def successor_of(name: str) -> str:
    """A → A2 → A3."""
    return f"{name[0]}{int(name[1:] or 1) + 1}"


def _is_dead(process: subprocess.Popen[bytes]) -> bool:
    # Looks without burying it: as long as it is not buried, nobody else can be given its number.
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: subprocess.Popen[bytes]) -> int:
    """Kill it, if it lives, and the child processes that run its `process=True` jobs; its exit code."""
    # They are its session. They would leave by themselves, but a moment later.
    os.killpg(process.pid, signal.SIGKILL)
    code = process.wait()
    if process.stdin is not None:
        process.stdin.close()
    return code
