"""Who ran when: each worker process writes its handler runs into a file that it has mapped into memory.

A mapped file costs a handler no system call, can be counted by others while the worker runs (a producer holds
its backlog bounded by it), and outlives a worker that has to be killed. Layout, in words of eight bytes: the
number of entries, zero, then (job number, CLOCK_MONOTONIC in seconds) for each run. peers/graphile/tally.mjs
writes the same.
"""

from __future__ import annotations

import mmap
import os
import struct
import threading
import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HEADER = 16
ENTRY = 16
CAPACITY = 8_000_000

Record = Callable[[int], None]


def open_tally(folder: Path, kind: str = "ran") -> Record:
    """A function for one event loop (one thread): it notes the job's number and the time."""
    path = folder / f"{kind}-{os.getpid()}.tally"
    with path.open("w+b") as file:
        file.truncate(HEADER + ENTRY * CAPACITY)  # sparse: pages come as they are written
        memory = mmap.mmap(file.fileno(), 0)
    numbers = memoryview(memory).cast("q")
    times = memoryview(memory).cast("d")
    clock = time.monotonic
    count = 0

    def record(n: int) -> None:
        nonlocal count
        count += 1
        numbers[2 * count] = n
        times[2 * count + 1] = clock()
        numbers[0] = count

    return record


def open_forking_tally(folder: Path, kind: str = "ran") -> Record:
    """The same for handlers in threads and in processes that are forked later: each process opens its own file."""
    lock = threading.Lock()
    owner = 0
    record: Record | None = None

    def record_alone(n: int) -> None:
        nonlocal owner, record
        with lock:
            if record is None or owner != os.getpid():
                owner, record = os.getpid(), open_tally(folder, kind)
            record(n)

    return record_alone


class Counter:
    """Counts the runs of all worker processes while they work."""

    def __init__(self, folder: Path, kind: str = "ran") -> None:
        self._folder = folder
        self._kind = kind

    def count(self) -> int:
        total = 0
        for path in self._folder.glob(f"{self._kind}-*.tally"):
            with path.open("rb") as file:
                head = file.read(8)
            if len(head) == 8:
                total += int(struct.unpack("=q", head)[0])
        return total


@dataclass(frozen=True)
class Runs:
    """What was recorded: job numbers and times, entry by entry."""

    numbers: array[int]
    times: array[float]

    def __len__(self) -> int:
        return len(self.numbers)


def read_tallies(folder: Path, kind: str = "ran") -> Runs:
    """Everything that all processes recorded."""
    numbers, times = array("q"), array("d")
    for path in sorted(folder.glob(f"{kind}-*.tally")):
        with path.open("rb") as file:
            head = file.read(HEADER)
            if len(head) < HEADER:
                continue
            (count,) = struct.unpack_from("=q", head)
            body = file.read(ENTRY * count)
        words, moments = array("q"), array("d")
        words.frombytes(body)
        moments.frombytes(body)
        numbers.extend(words[0::2])
        times.extend(moments[1::2])
    return Runs(numbers, times)
