"""types: the drain of one type beside a big backlog of another that nobody runs."""

from __future__ import annotations

from howdah.bench import store
from howdah.bench.draining import drain
from howdah.bench.filling import fill_other
from howdah.bench.floor import drain_floor
from howdah.bench.outcome import Outcome, ratio
from howdah.bench.scenarios.drain import JOBS
from howdah.bench.stage import Stage

PENDING = 1_000_000


def measure(stage: Stage) -> Outcome:
    """In every round: alone, then beside the backlog."""
    settings = stage.settings
    jobs, pending = settings.jobs or JOBS, PENDING if settings.pending is None else settings.pending
    outcome = Outcome("types", {"jobs": jobs, "pending": pending})
    for number in range(1, settings.rounds + 1):
        stage.say(f"types: round {number} of {settings.rounds}")
        stage.run(store.empty())
        alone = drain(stage, jobs)
        floor, _ = drain_floor(stage, jobs)
        stage.run(store.empty())
        fill_other(stage, pending)
        beside = drain(stage, jobs)
        outcome.troubles.extend([*alone.troubles, *beside.troubles])
        outcome.rounds.append(
            {
                "alone_jobs_per_second": alone.rate,
                "beside_jobs_per_second": beside.rate,
                "beside_to_alone_ratio": ratio(beside.rate, alone.rate),
                "floor_jobs_per_second": floor,
                "alone_ratio_to_floor": ratio(alone.rate, floor),
            }
        )
    return outcome
