"""A file that the bench and its processes have in memory together: who ran what, how often and when.

Every byte has one writer, so nothing is locked. It survives the death of its writers, and looking at it costs the
server nothing.
"""

from __future__ import annotations

import mmap
import os
import time
from pathlib import Path

#: Numbers at the start of the file: what was run, enqueued, stamped twice, and is running; the order to stop.
RAN, ENQUEUED, STAMPED_TWICE, RUNNING, STOP, JOBS, STAMPS = range(7)
_HEADER_BYTES = 64 * 8


class Board:
    """`counts[n]`: how often job n ran. `stamps[n]`: when stamped job n started, in nanoseconds of the machine's
    monotonic clock, which all processes share."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("r+b") as file:
            whole = memoryview(mmap.mmap(file.fileno(), 0))
        self.header = whole[:_HEADER_BYTES].cast("q")
        after_stamps = _HEADER_BYTES + 8 * self.header[STAMPS]
        self.stamps = whole[_HEADER_BYTES:after_stamps].cast("q")
        self.counts = whole[after_stamps : after_stamps + self.header[JOBS]]

    @classmethod
    def make(cls, path: Path, jobs: int, stamps: int = 1) -> Board:
        """A new one, all zeros."""
        with path.open("wb") as file:
            os.truncate(file.fileno(), _HEADER_BYTES + 8 * stamps + max(jobs, 1))
            header = memoryview(bytearray(_HEADER_BYTES)).cast("q")
            header[JOBS], header[STAMPS] = max(jobs, 1), stamps
            file.write(header)
        return cls(path)

    def stamp(self, place: int) -> None:
        """A stamped job starts. Place 0 is for those of which nobody asks when."""
        if place and self.stamps[place]:
            self.header[STAMPED_TWICE] += 1
        self.stamps[place] = time.monotonic_ns()

    @property
    def ran(self) -> int:
        """How many counted jobs have been run."""
        return self.header[RAN]


def uncounted(board: Board, jobs: int, times: int = 1) -> list[str]:
    """What is wrong with the first `jobs` counts, each of which should be `times`."""
    counts = bytes(board.counts[:jobs])
    right = counts.count(times)
    troubles = []
    if right != jobs:
        seldom = sum(count < times for count in counts)
        troubles.append(f"of {jobs:,} jobs, {seldom:,} ran too seldom and {jobs - right - seldom:,} too often")
    if board.header[STAMPED_TWICE]:
        troubles.append(f"{board.header[STAMPED_TWICE]} stamped jobs ran twice")
    return troubles
