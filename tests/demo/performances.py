"""Demos as real processes, with or without a terminal, in a temporary folder of the test's own."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from pathlib import Path

from howdah.embedded.keeper import all_processes, command_line
from tests.rig.waiting import until

PROGRAM = "from howdah.cli.demo import demo; demo()"
#: The stated target is a minute; this is only for a demo that hangs.
PATIENCE = 110.0


class Performance:
    """One running demo and what it has printed so far."""

    def __init__(self, place: Path, *, terminal: bool = False, program: str = PROGRAM) -> None:
        # An address that leads nowhere: the demo must not touch the database that the caller's own apps use.
        environment = {**os.environ, "TMPDIR": str(place), "HOWDAH_URL": "postgresql://nowhere.invalid/x"}
        reader, writer = pty.openpty() if terminal else os.pipe()
        if terminal:
            environment["TERM"] = "xterm-256color"
            fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-c", program],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=writer,
            stderr=subprocess.STDOUT,
        )
        os.close(writer)
        self._chunks: list[bytes] = []
        self._reading = threading.Thread(target=self._read, args=(reader,), daemon=True)
        self._reading.start()

    @property
    def output(self) -> str:
        return b"".join(self._chunks).decode()

    def wait_for(self, text: str) -> None:
        until(lambda: text in self.output or self.process.poll() is not None, f"it prints {text!r}", PATIENCE)
        assert text in self.output, self.output

    def end(self) -> int:
        """Its exit code, once it has ended and all that it printed is here."""
        code = self.process.wait(PATIENCE)
        self._reading.join(PATIENCE)
        return code

    def close(self) -> None:
        self.process.kill()
        self.process.wait()

    def _read(self, reader: int) -> None:
        try:
            while chunk := os.read(reader, 65536):
                self._chunks.append(chunk)
        except OSError:
            pass  # how a pseudo-terminal says that nobody writes to it any more
        os.close(reader)


def processes_of(place: Path) -> list[str]:
    """Every process that a demo in this place started, however indirectly: TMPDIR goes from parent to child."""
    return [command_line(pid) for pid in all_processes() if pid != os.getpid() and _names(pid, str(place))]


def _names(pid: int, place: str) -> bool:
    if place in command_line(pid):
        return True
    try:
        return place.encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


def without_control_sequences(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
