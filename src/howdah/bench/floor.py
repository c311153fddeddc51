"""The floor: the same work done by the barest SQL loop on the same server.

Two tables as Howdah's, a ledger that keeps everything and a narrow line in strict order, but no triggers and no leases;
one connection, prepared statements, no Python per job. Commits are as durable as the server makes them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from howdah.bench import store
from howdah.bench.counters import Counters
from howdah.bench.jobs import padding
from howdah.bench.outcome import BenchFailed
from howdah.bench.stage import Stage
from howdah.db.catalog import Catalog
from howdah.db.connecting import connect
from howdah.db.op import perform
from howdah.model.job_id import new_job_ids

BATCH = 500
#: Until the server has counted what an ended connection did.
COUNTED_SECONDS = 0.2
_FILL = 50_000


def connect_bare(stage: Stage) -> Any:
    """A connection for the bare loop."""
    return open_bare(stage.url, stage.catalog)


def open_bare(url: str, catalog: Catalog) -> Any:
    """A connection that prepares every statement at its first use."""
    connection = connect(url, "bench floor")
    connection.prepare_threshold = 0
    perform(connection, catalog, store.floor_settings())
    return connection


def fill(stage: Stage, jobs: int) -> None:
    """That many pending jobs for the floor."""
    for first in range(0, jobs, _FILL):
        stage.run(store.floor_fill(first, min(_FILL, jobs - first), padding(stage.settings.payload)))


def rendered(first: int, jobs: int, payload: int) -> tuple[list[UUID], str]:
    """Ids and rows as floor_copy takes them."""
    ids, pad = new_job_ids(jobs), "x" * padding(payload)
    rows = [f'{made}\tnoop\t{{"n": {first + n}, "pad": "{pad}"}}\n' for n, made in enumerate(ids)]
    return ids, "".join(rows)


def copy(connection: Any, catalog: Catalog, ids: Sequence[UUID], rows: str) -> None:
    """Enqueue what was rendered, all or none."""
    with connection.transaction():
        perform(connection, catalog, store.floor_copy(ids, rows))


def drain_floor(stage: Stage, jobs: int) -> tuple[float, Counters]:
    """Jobs a second of the bare loop over so many pending ones, filled here, and what the server counted meanwhile."""
    fill(stage, jobs)
    before = stage.counters(floor=True)
    with connect_bare(stage) as connection:
        begin = time.perf_counter()
        while perform(connection, stage.catalog, store.floor_round(BATCH)):
            pass
        seconds = time.perf_counter() - begin
    there, once = stage.run(store.floor_check())
    if (there, once) != (jobs, jobs):
        raise BenchFailed(f"the bare loop itself is wrong: of {jobs:,} jobs it ran {once:,} exactly once")
    time.sleep(COUNTED_SECONDS)
    return jobs / seconds, stage.counters(floor=True).since(before)
