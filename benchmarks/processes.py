"""Child processes in groups of their own, so that a system that hangs is ended with all that it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.peers.contract import Peer, Plan

ROOT = Path(__file__).parents[1]
GRACE = 8.0
"""Seconds a worker has for stopping; all that counts has been recorded by then."""


class Failure(Exception):
    """A measurement that did not come to a figure, and why."""


class Child:
    """One role of one system."""

    def __init__(self, peer: Peer, role: str, plan: Plan) -> None:
        self.role = role
        self._log = plan.path / f"{role}.log"
        program = list(peer.program or [sys.executable, "-m", "benchmarks.program"])
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*program, role, plan.to_json()],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
            )

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def wait(self, deadline: float) -> None:
        """Until it ends by itself, without error."""
        try:
            code = self._process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.role}: not finished in time; {self.last_words()}") from None
        if code != 0:
            raise Failure(f"{self.role}: ended with {code}; {self.last_words()}")

    def stop(self) -> bool:
        """Ask, wait, kill the group; False if it had to be killed."""
        stopped = True
        if not self.has_ended():
            self._process.terminate()
            try:
                self._process.wait(GRACE)
            except subprocess.TimeoutExpired:
                stopped = False
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        return stopped

    def last_words(self) -> str:
        lines = [line.strip() for line in self._log.read_text(errors="replace").splitlines() if line.strip()]
        said = " | ".join(lines[-3:])[-400:] or "it said nothing"
        # The report is committed: it has no business with where things lie on this machine.
        return said.replace(f"{ROOT}/", "").replace(f"{Path.home()}/", "~/")


@contextlib.contextmanager
def running(peer: Peer, role: str, plan: Plan) -> Iterator[Child]:
    """A child that is gone afterwards, whatever happens."""
    child = Child(peer, role, plan)
    try:
        yield child
    finally:
        child.stop()


def finish(peer: Peer, role: str, plan: Plan, seconds: float) -> None:
    """Run one role to its end."""
    with running(peer, role, plan) as child:
        child.wait(time.monotonic() + seconds)


def wait_until(done: Callable[[], bool], child: Child, deadline: float, what: Callable[[], str]) -> None:
    """Poll gently: the machine has few cores, and they belong to what is measured."""
    while not done():
        if child.has_ended():
            raise Failure(f"{child.role}: ended before {what()}; {child.last_words()}")
        if time.monotonic() > deadline:
            raise Failure(f"timeout: {what()} not reached; {child.last_words()}")
        time.sleep(0.004)
