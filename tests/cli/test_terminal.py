"""What a terminal gets: no line longer than it is wide, and ids that can be copied."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from typing import Any

import psycopg
import pytest

from howdah.cli.fitting import Fit
from tests.cli.conftest import UUID_PATTERN, Shell

FIT = Fit(shorten=(("NOTE", 6), ("TYPE", 5)), leave_out=("PRIORITY", "QUEUE"))
TABLE = [["ID", "TYPE", "QUEUE", "PRIORITY", "NOTE"], ["12345678", "encode_film", "videos", "100", "a long remark"]]


@pytest.mark.parametrize(
    ("width", "last_row"),
    [
        (54, "12345678 encode_film videos 100 a long remark"),
        (53, "12345678 encode_film videos 100 a long rema…"),
        (47, "12345678 encode_film videos 100 a lon…"),
        (46, "12345678 encode_fi… videos 100 a lon…"),
        (41, "12345678 enco… videos 100 a lon…"),
        (40, "12345678 encode_film videos a long r…"),
        (20, "12345678 enco… a lon…"),
    ],
)
def test_texts_give_way_before_columns(width: int, last_row: str) -> None:
    assert " ".join(FIT.fitted(TABLE, width)[1]) == last_row


def in_terminal(howdah: Shell, columns: int, *arguments: object) -> list[str]:
    """The lines that a terminal of that width gets."""
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    process = subprocess.Popen(
        howdah.command(*arguments), cwd=howdah.folder, env={**environment, **howdah.environment}, stdout=writer
    )
    os.close(writer)
    chunks = []
    try:
        while chunk := os.read(reader, 65536):
            chunks.append(chunk)
    except OSError:
        pass  # how a pseudo-terminal says that nobody writes to it any more
    os.close(reader)
    assert process.wait(60) == 0
    return re.sub(r"\x1b\[[0-9;]*m", "", b"".join(chunks).decode()).splitlines()


@pytest.mark.parametrize("columns", [80, 120])
def test_the_list_fits(howdah: Shell, sql: psycopg.Connection[Any], columns: int) -> None:
    sql.execute(
        "INSERT INTO jobs (job_type, status, completed_at, last_error) VALUES (%s, 'failed', now(), %s)",
        ("make_thumbnails_of_everything", "ValueError: " + "far too long " * 20),
    )
    sql.execute("SELECT enqueue_job('encode')")
    lines = in_terminal(howdah, columns, "ls")
    assert len(lines) == 3
    assert max(map(len, lines)) <= columns
    for line in lines[1:]:
        assert re.match(UUID_PATTERN + "  ", line)
    assert "ValueError" in lines[2]
    assert ("far too long " * 20).strip() in howdah("ls").must_work().out, "a pipe gets everything"
