"""memory: what a worker has in memory at its start, and how that grows over many jobs."""

from __future__ import annotations

import time

from howdah.bench import store
from howdah.bench.draining import check, enqueue, wait_completed, wait_ran
from howdah.bench.footprint import resident_mb
from howdah.bench.outcome import Figures, Outcome
from howdah.bench.processes import working
from howdah.bench.stage import Stage

JOBS = 2_000_000
WAVE = 100_000
#: A count on the board is a byte.
_MOST_WAVES = 250


def measure(stage: Stage) -> Outcome:
    """One worker, wave after wave of the same numbers, so that the board does not grow with the jobs."""
    jobs = stage.settings.jobs or JOBS
    waves = max(1, min(_MOST_WAVES, jobs // min(WAVE, jobs)))
    each = jobs // waves
    outcome = Outcome("memory", {"jobs": each * waves, "waves": waves, "concurrency": stage.settings.concurrency})
    outcome.remark("it has no floor: the jobs are run, but not against the clock; rounds do not apply")
    stage.run(store.empty())
    board = stage.board(each)
    sizes: list[float | None] = []
    with working(stage, board) as worker:
        pid = worker.process.pid
        time.sleep(1)
        start = resident_mb(pid)
        for wave in range(waves):
            made = enqueue(stage, each)
            wait_ran(board, each * (wave + 1), worker)
            wait_completed(stage, made, worker)
            outcome.troubles.extend(check(stage, board, made, wave + 1))
            sizes.append(resident_mb(pid))
            if (wave + 1) % 5 == 0:
                stage.say(f"memory: {each * (wave + 1):,} of {each * waves:,} jobs")
    outcome.rounds.append(_figures(start, sizes))
    if start is None:
        outcome.remark("memory was not measured: there is neither /proc nor ps")
    return outcome


def _figures(start: float | None, sizes: list[float | None]) -> Figures:
    first, last = sizes[0], sizes[-1]
    return {
        "start_mb": start,
        "after_first_wave_mb": first,
        "end_mb": last,
        "growth_mb": None if last is None or start is None else last - start,
        "growth_after_first_wave_mb": None if last is None or first is None else last - first,
    }
