"""`howdah top` as users start it."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from contextlib import suppress

from tests.cli.conftest import Shell


def test_without_a_terminal(howdah: Shell) -> None:
    howdah("top").must_be_refused("needs a terminal", "howdah ls")


def test_a_wrong_place_is_told_before_the_screen_is_taken(howdah: Shell) -> None:
    code, seen = in_terminal(howdah, b"", "top", "--url", "postgresql://nobody@127.0.0.1:1/nothing")
    assert code == 2
    assert b"howdah: cannot use the database" in seen
    assert b"\x1b[?1049h" not in seen, "the terminal's other screen"


def test_in_a_terminal_until_q(howdah: Shell) -> None:
    code, seen = in_terminal(howdah, b"q", "top", "--read-only")
    assert code == 0, seen
    assert b"read-only" in seen
    assert seen.count(b"\x1b[?1049l") >= 1, "the terminal's own screen is back"


def in_terminal(shell: Shell, key: bytes, *arguments: str) -> tuple[int, bytes]:
    """Run it in a terminal of 80 by 24; press the key once the view is there."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {**os.environ, **shell.environment, "TERM": "xterm-256color"}
    process = subprocess.Popen(
        shell.command(*arguments), cwd=shell.folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    seen, pressed = b"", False
    with suppress(OSError):  # how a pseudo-terminal says that nobody writes to it any more
        while chunk := os.read(ours, 65536):
            seen += chunk
            if key and not pressed and b"waiting" in seen:
                pressed = True
                os.write(ours, key)
    os.close(ours)
    return process.wait(60), seen
