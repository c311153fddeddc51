"""pinned: a flow while another transaction holds a snapshot, beside one without, and late commits throughout."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from howdah.bench.board import Board
from howdah.bench.flowing import Beside, Flow, flow, flow_floor
from howdah.bench.late import LateCommits, committing_late
from howdah.bench.outcome import Figures, Outcome, Series, percentile, ratio
from howdah.bench.pins import CannotPin, held
from howdah.bench.stage import Stage

SECONDS = 20.0


def measure(stage: Stage) -> Outcome:
    """In every round: without, then each form."""
    settings = stage.settings
    seconds = settings.seconds or SECONDS
    outcome = Outcome("pinned", {"seconds": seconds, "forms": list(settings.pins), "batch": settings.batch})
    for number in range(1, settings.rounds + 1):
        stage.say(f"pinned: round {number} of {settings.rounds}: nothing held")
        free = flow(stage, seconds)
        floor = flow_floor(stage, seconds)
        outcome.troubles.extend([*free.troubles, *floor.troubles])
        outcome.series.append(Series(f"nothing held, round {number}", free.rates))
        figures: Figures = {
            **free.figures("unpinned_"),
            "floor_unpinned_jobs_per_second": floor.rate,
            "unpinned_ratio_to_floor": ratio(free.rate, floor.rate),
        }
        for form in settings.pins:
            stage.say(f"pinned: round {number} of {settings.rounds}: {form}")
            figures |= _pinned(stage, form, free, outcome, f"{form}, round {number}")
        outcome.rounds.append(figures)
    return outcome


def _pinned(stage: Stage, form: str, free: Flow, outcome: Outcome, title: str) -> Figures:
    found: list[LateCommits] = []

    @contextmanager
    def beside(place: Stage, board: Board) -> Iterator[Beside]:
        with held(form, place, board) as pin, committing_late(place, board, pin) as late:
            found.append(late)
            yield pin

    prefix = f"{form.replace('-', '_')}_"
    try:
        own = flow(stage, stage.settings.seconds or SECONDS, beside)
    except CannotPin as reason:
        outcome.remark(f"{form} was not measured: {reason}")
        return {f"{prefix}jobs_per_second": None}
    outcome.troubles.extend(f"{form}: {trouble}" for trouble in own.troubles)
    outcome.series.append(Series(title, own.rates))
    waits = found[0].waits()
    if None in waits:
        outcome.troubles.append(f"{form}: {waits.count(None)} late commits were never run")
    known = [wait for wait in waits if wait is not None]
    return {
        **own.figures(prefix),
        f"{prefix}to_unpinned_ratio": ratio(own.rate, free.rate),
        f"{prefix}late_commits": float(len(known)),
        f"{prefix}late_start_p50_ms": percentile(known, 50),
        f"{prefix}late_start_max_ms": max(known, default=None),
        f"{prefix}wal_bytes_per_job": own.counted.wal_bytes / own.jobs,
    }
