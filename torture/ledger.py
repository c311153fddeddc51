"""What producers and handlers did, in files of their own: one JSON array a line, written with one append and synced.

A process that is killed loses nothing that it has written, and nobody else writes to its file, so a line is whole
unless it is the last one.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any


class Pen:
    """Writes one file. Times are the machine's monotonic clock, which all processes share, so that a worker whose
    wall clock is wrong still writes right times."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._thread = ThreadPoolExecutor(1, "ledger")
        self._lines = self._synced = 0
        self._syncing: asyncio.Future[None] | None = None

    def write(self, what: str, *words: Any) -> None:
        """One line, on the disk when this returns."""
        self._append(what, words)
        os.fdatasync(self._fd)

    async def awrite(self, what: str, *words: Any) -> None:
        """The same on an event loop: lines that are written meanwhile share the next sync, so that the ledger is not
        what the loop waits for."""
        self._append(what, words)
        self._lines += 1
        mine = self._lines
        while self._synced < mine:
            if self._syncing is None or self._syncing.done():
                self._syncing = asyncio.ensure_future(self._sync())
            # Shared: that one of those who wait is cancelled must not end it.
            await asyncio.shield(self._syncing)

    async def _sync(self) -> None:
        lines = self._lines
        await asyncio.get_running_loop().run_in_executor(self._thread, os.fdatasync, self._fd)
        self._synced = lines

    def _append(self, what: str, words: tuple[Any, ...]) -> None:
        line = json.dumps([what, time.monotonic(), *words], separators=(",", ":")) + "\n"
        os.write(self._fd, line.encode())


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
