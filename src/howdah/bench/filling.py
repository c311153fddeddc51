"""Backlogs of millions, made by the server itself in chunks, as a queue in use for weeks would have them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from howdah.bench import store
from howdah.bench.jobs import BACKLOG_PRIORITY, noop, other, padding
from howdah.bench.stage import Stage
from howdah.db.op import Operation

CHUNK = 250_000
#: Four weeks of finished jobs and the day before them.
_PARTITIONS_BACK = 5
_TELL_SECONDS = 5.0


@contextmanager
def _past_the_trigger(stage: Stage) -> Iterator[None]:
    stage.run(store.fill_begin())
    yield
    stage.run(store.fill_end())


def fill_other(stage: Stage, jobs: int) -> None:
    """Jobs of a type that nobody runs."""
    pad = padding(stage.settings.payload)
    with _past_the_trigger(stage):
        _in_chunks(stage, "pending", jobs, lambda *chunk: store.fill_pending(other.name, 100, pad, chunk))
    other.enqueue(-1)
    _settle(stage)


def fill_deep(stage: Stage, pending: int, finished: int, scheduled: int) -> None:
    """Finished and scheduled ones, and pending ones: half of a type that nobody runs, half at a lower priority in the
    lane that is worked on."""
    pad = padding(stage.settings.payload)
    for ago in range(1, _PARTITIONS_BACK + 1):
        stage.run(store.fill_partition(ago))
    half = pending // 2
    with _past_the_trigger(stage):
        _in_chunks(stage, "finished", finished, lambda *chunk: store.fill_finished(pad, chunk))
        _in_chunks(
            stage, "pending of another type", half, lambda *chunk: store.fill_pending(other.name, 100, pad, chunk)
        )
        _in_chunks(
            stage,
            "pending at a lower priority",
            pending - half,
            lambda *chunk: store.fill_pending(noop.name, BACKLOG_PRIORITY, pad, chunk),
        )
        _in_chunks(stage, "scheduled", scheduled, lambda *chunk: store.fill_scheduled(pad, chunk))
    # By the front door, so that whatever else goes with the first job of its kind is there too.
    other.enqueue(-1)
    noop.using(priority=BACKLOG_PRIORITY).enqueue(-1)
    _settle(stage)


def _in_chunks(stage: Stage, what: str, jobs: int, fill: Callable[[int, int, int], Operation[None]]) -> None:
    told = time.monotonic()
    for first in range(0, jobs, CHUNK):
        stage.run(fill(first, min(CHUNK, jobs - first), jobs))
        if time.monotonic() > told + _TELL_SECONDS:
            told = time.monotonic()
            stage.say(f"filling: {first + CHUNK:,} of {jobs:,} {what}")


def _settle(stage: Stage) -> None:
    stage.say("filling: vacuum, analyze and checkpoint, as the server would have done by now")
    stage.run(store.fill_settle())
