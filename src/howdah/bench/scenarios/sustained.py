"""sustained: enqueue and run at once for a time, beside the floor."""

from __future__ import annotations

from howdah.bench.flowing import flow, flow_floor
from howdah.bench.outcome import Outcome, Series, ratio
from howdah.bench.producer import BACKLOG
from howdah.bench.stage import Stage

SECONDS = 5.0


def measure(stage: Stage) -> Outcome:
    """Worker and floor in turn, round by round."""
    seconds = stage.settings.seconds or SECONDS
    outcome = Outcome("sustained", {"seconds": seconds, "backlog": BACKLOG, "batch": stage.settings.batch})
    for number in range(1, stage.settings.rounds + 1):
        stage.say(f"sustained: round {number} of {stage.settings.rounds}")
        own, floor = flow(stage, seconds), flow_floor(stage, seconds)
        outcome.troubles.extend([*own.troubles, *floor.troubles])
        outcome.series += [Series(f"howdah, round {number}", own.rates), Series(f"floor, round {number}", floor.rates)]
        outcome.rounds.append(
            {
                **own.figures(),
                "floor_jobs_per_second": floor.rate,
                "ratio_to_floor": ratio(own.rate, floor.rate),
                **own.counted.per_job(own.jobs),
                "floor_last_to_first_ratio": floor.figures()["last_to_first_ratio"],
                "floor_wal_bytes_per_job": floor.counted.wal_bytes / floor.jobs,
            }
        )
    return outcome
