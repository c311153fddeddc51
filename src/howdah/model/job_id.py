"""Job ids: UUID version 7, made by the client, so that an enqueue whose reply was lost can be repeated safely."""

from __future__ import annotations

import os
import threading
import time
from uuid import UUID

from howdah.model.errors import OptionError, shown

_lock = threading.Lock()
_last = 0


def new_job_id() -> UUID:
    """A time-ordered id, greater than every one that this process made before: equal times keep their order."""
    return new_job_ids(1)[0]


def new_job_ids(count: int) -> list[UUID]:
    """That many ids in ascending order."""
    global _last  # noqa: PLW0603 - the one counter that makes ids of a process monotonic
    # 48 bits of milliseconds and 12 of their fraction: a clock of 1/4096 ms that never runs backwards.
    with _lock:
        ticks = time.time_ns() * 4096 // 1_000_000
        first = max(ticks, _last + 1)
        _last = first + count - 1
    noise = os.urandom(8 * count)
    ids = []
    for n in range(count):
        tick = first + n
        high = (tick >> 12) << 16 | 7 << 12 | tick & 0xFFF
        low = int.from_bytes(noise[8 * n : 8 * n + 8]) & (2**62 - 1) | 2 << 62
        ids.append(UUID(int=high << 64 | low))
    return ids


def as_job_id(job_id: object) -> UUID:
    """A job id given as a UUID or as its text."""
    if isinstance(job_id, UUID):
        return job_id
    try:
        return UUID(str(job_id) if isinstance(job_id, str) else None)
    except (ValueError, TypeError) as error:
        raise OptionError(f"{shown(job_id)} is not a job id; ids look like 0193a0e4-…") from error
