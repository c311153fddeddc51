"""enqueue: one by one, each in a transaction of the caller's, and many at once; beside bare INSERTs."""

from __future__ import annotations

import time
from collections.abc import Callable

from howdah.bench import store
from howdah.bench.draining import CALL
from howdah.bench.draining import enqueue as enqueue_many
from howdah.bench.floor import COUNTED_SECONDS, connect_bare, copy, rendered
from howdah.bench.jobs import app, noop, padding
from howdah.bench.outcome import Figures, Outcome, ratio
from howdah.bench.stage import Stage
from howdah.db.connecting import connect
from howdah.db.op import perform

JOBS = 100_000
#: Single calls are a hundred times slower than bulk.
_SINGLE_SHARE = 50


def measure(stage: Stage) -> Outcome:
    """All three, and their floors, in every round."""
    jobs = stage.settings.jobs or JOBS
    single = max(1, jobs // _SINGLE_SHARE)
    outcome = Outcome("enqueue", {"bulk_jobs": jobs, "single_jobs": single})
    outcome.remark(f"bulk: enqueue_many, {CALL:,} in a call; its floor is a COPY of rows made beforehand")
    for number in range(1, stage.settings.rounds + 1):
        stage.say(f"enqueue: round {number} of {stage.settings.rounds}")
        stage.run(store.empty())
        outcome.rounds.append(_round(stage, jobs, single))
        there, _, _ = stage.run(store.check_everything())
        wanted = jobs + 2 * single + 1
        if there != wanted:
            outcome.troubles.append(f"the table has {there:,} jobs, {wanted:,} were enqueued")
    return outcome


def _round(stage: Stage, jobs: int, single: int) -> Figures:
    pad = "x" * padding(stage.settings.payload)
    noop.enqueue(0, pad)
    singles = _rate(single, lambda n: noop.enqueue(n, pad))
    with connect(stage.url, "bench") as connection:

        def inside(n: int) -> None:
            with connection.transaction():
                noop.using(conn=connection).enqueue(n, pad)

        transactions = _rate(single, inside)
    with connect_bare(stage) as bare:
        floor = _rate(single, lambda n: perform(bare, stage.catalog, store.floor_fill(n, 1, len(pad))))
    app.close()
    before = stage.counters()
    begin = time.perf_counter()
    enqueue_many(stage, jobs)
    bulk = jobs / (time.perf_counter() - begin)
    app.close()
    time.sleep(COUNTED_SECONDS)
    counted = stage.counters().since(before).per_job(jobs)
    prepared = [rendered(0, min(CALL, jobs - n), stage.settings.payload) for n in range(0, jobs, CALL)]
    with connect_bare(stage) as bare:
        bulk_floor = jobs / len(prepared) * _rate(len(prepared), lambda n: copy(bare, stage.catalog, *prepared[n]))
    return {
        "single_jobs_per_second": singles,
        "in_transaction_jobs_per_second": transactions,
        "floor_single_jobs_per_second": floor,
        "single_ratio_to_floor": ratio(singles, floor),
        "bulk_jobs_per_second": bulk,
        "floor_bulk_jobs_per_second": bulk_floor,
        "bulk_ratio_to_floor": ratio(bulk, bulk_floor),
        **{f"bulk_{name}": value for name, value in counted.items() if name != "hot_ratio"},
    }


def _rate(times: int, act: Callable[[int], object]) -> float:
    begin = time.perf_counter()
    for number in range(times):
        act(number)
    return times / (time.perf_counter() - begin)
