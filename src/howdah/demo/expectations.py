"""How the jobs of the demo have to end.

An expectation is a generator of (held true, what was expected), asked when the show is over, of what the database says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from howdah.demo.jobs import FAILURES_OF_THE_SERVICE
from howdah.demo.standing import Standing
from howdah.model.status import Status


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the show ended with: how jobs stand by label, who was killed on stage, and every worker's process."""

    standings: Mapping[str, Standing]
    killed: str
    process_ids: frozenset[int]


Checks: TypeAlias = Iterator[tuple[bool, str]]
Expectation: TypeAlias = Callable[[Standing, Outcome], Checks]


def completed(job: Standing, _outcome: Outcome) -> Checks:
    """It ran to its end."""
    yield job.status == Status.COMPLETED, f"status completed, not {job.status}"
    yield job.progress == 100, f"100 %, not {job.progress} %"


def taken_over(job: Standing, outcome: Outcome) -> Checks:
    """Its worker was killed; another one finished it."""
    yield from completed(job, outcome)
    yield job.attempts >= 2, f"a second attempt, not {job.attempts}"
    yield job.deaths >= 1, "the death of its worker on record"
    yield job.worker != outcome.killed, f"another worker than {outcome.killed} to finish it"


def in_a_thread(job: Standing, outcome: Outcome) -> Checks:
    """It ran in a thread of its worker."""
    yield from completed(job, outcome)
    thread = job.result.get("thread") if isinstance(job.result, dict) else None
    yield thread not in (None, "MainThread"), f"a thread other than {thread}"


def in_a_process(job: Standing, outcome: Outcome) -> Checks:
    """It ran in a process that is none of the workers."""
    yield from completed(job, outcome)
    process = job.result.get("process") if isinstance(job.result, dict) else None
    yield process is not None and process not in outcome.process_ids, f"a process of its own, not {process}"


def retried(job: Standing, outcome: Outcome) -> Checks:
    """It raised as often as it was written to, and then succeeded."""
    yield from completed(job, outcome)
    wanted = FAILURES_OF_THE_SERVICE
    yield job.errors == wanted, f"{wanted} errors, not {job.errors}"
    yield job.attempts > wanted, f"an attempt after {wanted} errors, not {job.attempts} in all"


def cancelled(job: Standing, _outcome: Outcome) -> Checks:
    """It was stopped under way."""
    yield job.status == Status.CANCELLED, f"status cancelled, not {job.status}"
    yield job.started_at is not None, "to be cancelled while it ran, not before"
    yield job.progress < 100, "to be cancelled before its end"


def in_order(job: Standing, outcome: Outcome) -> Checks:
    """The labels ran highest priority first, though they were enqueued lowest first."""
    yield from completed(job, outcome)
    starts = [outcome.standings[f"print_label {name}"].started_at for name in ("high", "normal", "low")]
    known = [start for start in starts if start is not None]
    yield len(known) == len(starts) and known == sorted(known), "labels to run high, normal, low"


def on_time(job: Standing, outcome: Outcome) -> Checks:
    """It did not start before its time."""
    yield from completed(job, outcome)
    started, due = job.started_at, job.run_at
    yield started is not None and due is not None and started >= due, f"a start at {due}, not at {started}"


def poisonous(job: Standing, _outcome: Outcome) -> Checks:
    """It was given up after three deaths."""
    yield job.status == Status.FAILED, f"status failed, not {job.status}"
    yield job.deaths == 3, f"exactly 3 deaths, not {job.deaths}"
    yield (job.last_error or "").startswith("poison"), f"the reason poison, not {job.last_error!r}"
