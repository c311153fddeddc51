"""A worker process as its supervisor sees it.

States: starting → ready (it said so, with its id) → left (it said so: it holds nothing) → ended. `told`: it was asked
to stop, and its end is no surprise.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass

from howdah.cli.leash import HEALTH, LEFT, MARK, NOW, READY, STOP, Lines
from howdah.runtime.threads import ThreadRunner


@dataclass(frozen=True, slots=True)
class Command:
    """This very command, as it was given: before the app was imported, which may change folder and environment."""

    words: list[str]
    folder: str
    environment: dict[str, str]

    @classmethod
    def of_this_process(cls) -> Command:
        """To be called early."""
        environment = {name: value for name, value in os.environ.items() if name != "NOTIFY_SOCKET"}
        # orig_argv: with the interpreter's own options, and whether it was `python -m howdah` or the script.
        return cls([sys.executable, *sys.orig_argv[1:]], os.getcwd(), environment)


class Supervised:
    """One process, from start to end."""

    def __init__(self, number: int, command: Command, threads: ThreadRunner) -> None:
        self.number = number
        self.worker_id: str | None = None
        self.health_port: int | None = None
        self.told = False
        self._left = False
        self._began = time.monotonic()
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                # A fresh interpreter, not a fork: the app has been imported here, and may have started threads.
                self._process = subprocess.Popen(
                    command.words,
                    cwd=command.folder,
                    env={**command.environment, MARK: f"{theirs.fileno()} {number}"},
                    stdin=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                )
        except OSError:
            ours.close()
            raise
        self.pid = self._process.pid
        self._lines = Lines(ours)
        loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[int] = threads.submit(self._process.wait)
        loop.add_reader(ours.fileno(), self._hear)
        self.ended.add_done_callback(self._close)

    @property
    def lived(self) -> float:
        """Seconds since its start."""
        return time.monotonic() - self._began

    @property
    def was_refused(self) -> bool:
        """Whether it ended with a user's mistake before it could work."""
        return self.worker_id is None and self.ended.result() == 2

    @property
    def ended_well(self) -> bool:
        """Whether it left nothing behind: it said so, or it never held anything. How the process ended says less: a
        signal to the whole group may have met it on its way out."""
        return self._left or self.ended.result() == 0 or (self.told and self.worker_id is None)

    def stop(self) -> None:
        """Ask it to stop gracefully."""
        self.told = True
        self._lines.send(STOP)
        if self.worker_id is None:
            # It may be importing its app and not listen for long. It holds no jobs; if it has just begun to listen, it
            # takes this for the same request.
            self._process.terminate()

    def hurry(self) -> None:
        """Ask it to stop now."""
        self._lines.send(NOW)
        self._hear()
        if self._left:
            # Something keeps the interpreter from ending.
            self._process.terminate()

    def _hear(self) -> None:
        lines = self._lines.take()
        if lines is None:
            asyncio.get_running_loop().remove_reader(self._lines.end.fileno())
        for line in lines or []:
            word, _, rest = line.partition(" ")
            if word == READY and not self.ready.done():
                self.worker_id = rest
                self.ready.set_result(None)
            elif word == HEALTH:
                self.health_port = int(rest)
            self._left = self._left or word == LEFT

    def _close(self, _: asyncio.Future[int]) -> None:
        # What it said last may not have been read yet.
        self._hear()
        asyncio.get_running_loop().remove_reader(self._lines.end.fileno())
        self._lines.end.close()


def how_it_ended(code: int) -> str:
    """An exit code in words."""
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"was killed by {signal.Signals(-code).name}"
        return f"was killed by signal {-code}"
    return f"exited with code {code}"
