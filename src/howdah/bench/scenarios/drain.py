"""drain: so many pending no-op jobs, one worker process, beside the floor."""

from __future__ import annotations

from howdah.bench import store
from howdah.bench.draining import drain
from howdah.bench.floor import drain_floor
from howdah.bench.outcome import Figures, Outcome, ratio
from howdah.bench.stage import Stage

JOBS = 100_000


def measure(stage: Stage) -> Outcome:
    """Floor and worker in turn, round by round."""
    jobs = stage.settings.jobs or JOBS
    outcome = Outcome("drain", {"jobs": jobs, "concurrency": stage.settings.concurrency})
    for number in range(1, stage.settings.rounds + 1):
        stage.say(f"drain: round {number} of {stage.settings.rounds}")
        stage.run(store.empty())
        outcome.rounds.append(_round(stage, jobs, outcome))
    return outcome


def _round(stage: Stage, jobs: int, outcome: Outcome) -> Figures:
    drained = drain(stage, jobs)
    outcome.troubles.extend(drained.troubles)
    floor, counted = drain_floor(stage, jobs)
    return {
        "jobs_per_second": drained.rate,
        "floor_jobs_per_second": floor,
        "ratio_to_floor": ratio(drained.rate, floor),
        **drained.counted.per_job(jobs),
        **{f"floor_{name}": value for name, value in counted.per_job(jobs).items()},
    }
