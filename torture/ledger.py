"""What producers and handlers did, in files of their own: one JSON array a line, written with one append and synced.

A process that is killed loses nothing that it has written, and nobody else writes to its file, so a line is whole
unless it is the last one.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Pen:
    """Writes one file. Times are the machine's monotonic clock, which all processes share, so that a worker whose
    wall clock is wrong still writes right times."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def write(self, what: str, *words: Any) -> None:
        """One line, on the disk when this returns."""
        line = json.dumps([what, time.monotonic(), *words], separators=(",", ":")) + "\n"
        os.write(self._fd, line.encode())
        os.fdatasync(self._fd)


def read(path: Path) -> Iterator[list[Any]]:
    """The whole lines of a file. A last line without an end was cut off by a kill and says nothing."""
    for line in path.read_text().splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


def read_all(folder: Path, kind: str) -> Iterator[tuple[str, list[Any]]]:
    """Writer and line, of all files of one kind (`producer` or `worker`)."""
    for path in sorted(folder.glob(f"{kind}-*.ledger")):
        for line in read(path):
            yield path.stem, line
