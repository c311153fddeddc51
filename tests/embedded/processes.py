"""Other processes that use a server, and questions about which processes there are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import psycopg

from howdah.embedded.keeper import all_processes, command_line, without_children
from howdah.embedded.layout import read_layout
from howdah.embedded.locks import is_held

USER_PROGRAM = """
import sys
from pathlib import Path
from howdah.embedded.server import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]))
sys.stdin.readline()
print(server.acquire(), flush=True)
sys.stdin.readline()
"""


class UserProcess:
    """A process that waits for the word to acquire, then uses the server until told to leave."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USER_PROGRAM, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> UserProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def go(self) -> None:
        """Tell it to acquire, without waiting."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def url(self) -> str:
        """Wait until it has acquired."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if not line:
            assert self.process.stderr is not None
            raise AssertionError(self.process.stderr.read())
        return line

    def acquire(self) -> str:
        self.go()
        return self.url()

    def leave(self) -> None:
        self.go()
        assert self.process.wait(20) == 0

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def wait_until(condition: Callable[[], object], what: str, seconds: float = 30.0) -> None:
    """Return as soon as the condition holds; fail if it does not within the time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}"
        time.sleep(0.01)


def processes_naming(text: str) -> list[int]:
    """Other processes whose command line holds the text; zombies have none, and so do not count."""
    return [pid for pid in all_processes() if pid != os.getpid() and text in command_line(pid)]


def postmasters(folder: Path) -> list[int]:
    started = f"/postgres -D {read_layout(folder).data} -c "
    return without_children([pid for pid in all_processes() if started in command_line(pid)])


def keepers(folder: Path) -> list[int]:
    return [pid for pid in processes_naming(str(folder)) if "keeper.py" in command_line(pid)]


def server_is_gone(folder: Path) -> bool:
    return not is_held(read_layout(folder).server_lock)


def wait_until_stopped(folder: Path) -> None:
    wait_until(lambda: server_is_gone(folder), "the server to stop by itself")
    assert postmasters(folder) == []
    wait_until(lambda: not keepers(folder), "its keeper to leave")


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def ask(url: str, question: str) -> object:
    """The one value that the server answers."""
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(question.encode())
        row = cursor.fetchone() if cursor.description else None
    return row[0] if row else None
