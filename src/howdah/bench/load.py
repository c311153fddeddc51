"""What a quiet stretch of time costs the server: transactions, statements, processor time."""

from __future__ import annotations

import time
from dataclasses import dataclass

from howdah.bench import store
from howdah.bench.footprint import server_seconds
from howdah.bench.stage import Stage

#: A backend may keep what it did to itself for a second; longer stretches make that negligible.
_COUNTING_LAG = 1.2


@dataclass(frozen=True, slots=True)
class Load:
    """All per second; None: cannot be told here."""

    transactions: float
    writing_transactions: float
    statements: float | None
    cores: float | None


def watch(stage: Stage, seconds: float) -> Load:
    """Look twice, and not in between. What others do in this database is counted too."""
    has_statements = stage.run(store.has_statements())
    backend = stage.run(store.read_server()).backend_pid
    time.sleep(_COUNTING_LAG)
    # This connection too keeps what it did to itself until it is asked something a second later.
    stage.counters()
    time.sleep(0.05)
    begin = time.perf_counter()
    before, cpu_before = stage.counters(), server_seconds(backend)
    statements_before = stage.run(store.count_statements()) if has_statements else None
    time.sleep(seconds)
    after, cpu_after = stage.counters(), server_seconds(backend)
    statements_after = stage.run(store.count_statements()) if has_statements else None
    taken = time.perf_counter() - begin
    counted = after.since(before)
    cores = statements = None
    if cpu_before is not None and cpu_after is not None:
        cores = (cpu_after - cpu_before) / taken
    if statements_before is not None and statements_after is not None:
        statements = (statements_after - statements_before) / taken
    # The first look itself is among the commits.
    return Load(max(0, counted.commits - 1) / taken, counted.writing_transactions / taken, statements, cores)
