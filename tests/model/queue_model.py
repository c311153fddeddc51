"""The queue as a few lines of pure Python: what every statement must answer, and what must stand in the ledger then.

No clock and no database. A job's time is one of three words, a worker beats or is silent, and a lease is whatever
number the database gave, as long as it grows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

HELD = ("claimed", "running")
MAX_DEATHS = 3


class When(StrEnum):
    """A job's run_at: null, not null and past, or to come."""

    NOW = "now"
    DUE = "due"
    LATER = "later"


@dataclass(slots=True)
class ModelJob:
    """One row of the ledger, as far as it matters to anybody."""

    id: UUID
    job_type: str
    queue: str
    priority: int
    created_at: datetime
    max_attempts: int = 3
    when: When = When.NOW
    status: str = "pending"
    attempts: int = 0
    lease: int = 0
    worker: str | None = None
    errors: int = 0
    deaths: int = 0
    cancel: bool = False
    started: bool = False
    #: Whether its claim is older than an hour.
    aged: bool = False
    old_leases: list[int] = field(default_factory=list)

    @property
    def held(self) -> bool:
        return self.status in HELD

    @property
    def waits(self) -> bool:
        """Whether it has a place in a line."""
        return self.status == "pending" and self.attempts < self.max_attempts

    @property
    def place(self) -> tuple[int, datetime, UUID]:
        """Highest priority first, oldest first within a priority."""
        return (-self.priority, self.created_at, self.id)

    def columns(self) -> tuple[object, ...]:
        """What the ledger must say; in the order of statements.LEDGER."""
        return (
            self.id, self.status, self.job_type, self.queue, self.priority, self.attempts, self.max_attempts,
            self.lease, self.worker, self.errors, self.deaths, self.cancel, self.started, str(self.when),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pools:
    """At most so many jobs of each queue."""

    limits: dict[str, int]


def fate(outcome: str, *, cancelled: bool, attempts_left: bool, deaths_left: bool) -> str:
    """What becomes of a job whose claim ends so."""
    if outcome == "fail":
        return "failed"
    if outcome == "cancel" or cancelled:
        return "cancelled"
    if outcome in ("snooze", "release"):
        return "pending"
    if outcome == "death" and not deaths_left:
        return "failed"
    return "pending" if attempts_left else "failed"


class QueueModel:
    """The whole queue."""

    def __init__(self) -> None:
        self.jobs: dict[UUID, ModelJob] = {}
        self.paused: set[tuple[str, str]] = set()
        #: Registered workers, and whether they beat.
        self.beating: dict[str, bool] = {}

    # What waits, and who gets it.

    def insert(self, job: ModelJob) -> None:
        self.jobs[job.id] = job

    def delete(self, ids: Iterable[UUID]) -> int:
        return sum(self.jobs.pop(job_id, None) is not None for job_id in ids)

    def pick(
        self,
        types: Sequence[str],
        most: int,
        pools: Pools | None = None,
        sees: Callable[[ModelJob], bool] | None = None,
    ) -> list[ModelJob]:
        """What a claim must return, in order; `sees`: a claim that begins at a mark sees only what lies behind it."""
        open_jobs = [
            job
            for job in self.jobs.values()
            if job.waits
            and job.when is not When.LATER
            and job.job_type in types
            and ("queue", job.queue) not in self.paused
            and ("type", job.job_type) not in self.paused
            and (sees is None or sees(job))
        ]
        open_jobs.sort(key=lambda job: job.place)
        if pools is None:
            return open_jobs[:most]
        taken: list[ModelJob] = []
        for queue, limit in pools.limits.items():
            mine = [job for job in open_jobs if job.queue == queue]
            taken += mine[: min(limit, most - len(taken))]
        return sorted(taken, key=lambda job: job.place)

    def take(self, job: ModelJob, worker: str, lease: int) -> None:
        """The claim that `pick` foretold."""
        assert job.waits, f"{job} was claimed"
        self._grow(job, lease)
        job.status, job.worker, job.attempts = "claimed", worker, job.attempts + 1
        job.cancel = job.started = job.aged = False

    def take_plainly(self, job: ModelJob, worker: str, status: str, lease: int) -> None:
        """A pending job that a plain UPDATE marked as claimed or running."""
        self._grow(job, lease)
        job.status, job.worker, job.aged = status, worker, False

    # Writes of a claim.

    def complete(self, ends: Sequence[tuple[UUID, int]]) -> set[UUID]:
        """The ids that must be refused. Repeating a completion that counted is not refused."""
        refused = set()
        for job_id, lease in ends:
            job = self.holder(job_id, lease)
            if job is not None:
                job.status, job.started = "completed", True
            else:
                known = self.jobs.get(job_id)
                if known is None or known.lease != lease or known.status != "completed":
                    refused.add(job_id)
        return refused

    def finish(self, ends: Sequence[tuple[UUID, int, str, When]]) -> dict[UUID, str]:
        """Ends that are no completions: which must be accepted, and what becomes of them."""
        accepted = {}
        for job_id, lease, outcome, when in ends:
            job = self.holder(job_id, lease)
            if job is None:
                continue
            job.status = fate(
                outcome,
                cancelled=job.cancel,
                attempts_left=job.attempts < job.max_attempts,
                deaths_left=job.deaths + 1 < MAX_DEATHS,
            )
            job.started = True
            if job.status == "pending":
                job.worker = None
                job.when = When.NOW if outcome == "release" else when
            job.attempts -= 1 if outcome in ("snooze", "release") and job.attempts > 0 else 0
            job.errors += outcome in ("retry", "fail")
            job.deaths += outcome == "death"
            accepted[job_id] = job.status
        return accepted

    def report(self, words: Sequence[tuple[UUID, int]]) -> set[UUID]:
        """The ids whose report must be accepted."""
        heard = {job_id: job for job_id, lease in words if (job := self.holder(job_id, lease)) is not None}
        for job in heard.values():
            job.status, job.started = "running", True
        return set(heard)

    def heartbeat(self, worker: str, held: Sequence[tuple[UUID, int]]) -> dict[UUID, str]:
        """The verdict on each job; and the worker lives."""
        self.beating[worker] = True
        answers = {}
        for job_id, lease in held:
            job = self.holder(job_id, lease)
            answers[job_id] = "lost" if job is None else "cancel" if job.cancel else "held"
        return answers

    # Orders from outside.

    def cancel(self, job_id: UUID) -> str | None:
        job = self.jobs.get(job_id)
        if job is None:
            return None
        if job.status == "pending":
            job.status = "cancelled"
        elif job.held:
            job.cancel = True
            return "requested"
        return job.status

    def retry(self, job_id: UUID) -> str | None:
        job = self.jobs.get(job_id)
        if job is None or job.held:
            return None if job is None else job.status
        job.status, job.when, job.worker = "pending", When.NOW, None
        job.max_attempts = max(job.max_attempts, job.attempts + 1)
        job.deaths, job.cancel, job.started = 0, False, False
        return "pending"

    def set_status(self, job: ModelJob, status: str) -> None:
        """A plain UPDATE of the status, not into a claim."""
        if status == "pending":
            # Put back while its cancellation was under way: it does not run again.
            status = "cancelled" if job.cancel and job.status != "pending" else "pending"
            job.worker = None
        job.status = status

    def pause(self, kind: str, name: str) -> bool:
        fresh = (kind, name) not in self.paused
        self.paused.add((kind, name))
        return fresh

    def resume(self, kind: str, name: str) -> bool:
        was = (kind, name) in self.paused
        self.paused.discard((kind, name))
        return was

    def let_time_pass(self) -> None:
        """Everything scheduled becomes due."""
        for job in self.jobs.values():
            if job.when is When.LATER:
                job.when = When.DUE

    # The dead and the departed.

    def silence(self, worker: str) -> None:
        if worker in self.beating:
            self.beating[worker] = False

    def age_claims(self) -> None:
        """Every claim is now more than an hour old."""
        for job in self.jobs.values():
            job.aged = job.aged or job.held

    def rescue(self) -> set[tuple[UUID, str, int, str]]:
        """What silent workers held, and what plain callers have held for an hour, with what becomes of it."""
        silent = [worker for worker, beats in self.beating.items() if not beats]
        settled = set()
        for job in list(self.jobs.values()):
            if job.held and job.worker is not None:
                if job.worker in silent:
                    settled.add(self._settle(job, marks_starts=True))
                elif job.worker not in self.beating and job.aged:
                    settled.add(self._settle(job, marks_starts=False))
        for worker in silent:
            del self.beating[worker]
        return settled

    def rescued(
        self, settled: Iterable[tuple[UUID, str, int, str]], registered: Collection[str], struck_off: Iterable[str]
    ) -> None:
        """A rescue that may have passed by what others held: what it did settle must have been there to be settled.
        `registered`: the workers that it saw."""
        for job_id, status, deaths, worker in settled:
            job = self.jobs[job_id]
            assert (job.held, job.worker) == (True, worker), f"{job} was rescued from {worker}"
            alive = self.beating.get(worker, False) if worker in registered else not job.aged
            assert not alive, f"{job} was rescued, but {worker} lives"
            assert self._settle(job, marks_starts=worker in registered) == (job_id, status, deaths, worker)
        for worker in struck_off:
            assert not self.beating.pop(worker), f"{worker} lives, and was struck off"

    def recover(self) -> int:
        """As recover_stale_jobs with an hour: old claims of whoever is silent or never beat."""
        stale = [job for job in self.jobs.values() if job.held and job.aged and not self.beating.get(job.worker or "")]
        for job in stale:
            self._settle(job, marks_starts=job.worker in self.beating)
        return len(stale)

    def unregister(self, worker: str) -> bool:
        if worker not in self.beating or any(job.held and job.worker == worker for job in self.jobs.values()):
            return False
        del self.beating[worker]
        return True

    def holder(self, job_id: UUID, lease: int) -> ModelJob | None:
        """The job, if this lease holds it."""
        job = self.jobs.get(job_id)
        return job if job is not None and job.held and job.lease == lease else None

    def _settle(self, job: ModelJob, *, marks_starts: bool) -> tuple[UUID, str, int, str]:
        unstarted = marks_starts and job.deaths > 0 and not job.started and job.attempts > 0
        worker = job.worker or "?"
        job.status = fate(
            "release" if unstarted else "death",
            cancelled=job.cancel,
            attempts_left=job.attempts < job.max_attempts,
            deaths_left=job.deaths + 1 < MAX_DEATHS,
        )
        job.attempts -= unstarted
        job.deaths += not unstarted
        if job.status == "pending":
            job.worker, job.when = None, When.NOW
        return job.id, job.status, job.deaths, worker

    def _grow(self, job: ModelJob, lease: int) -> None:
        assert lease > job.lease, f"the lease of {job} did not grow: {lease}"
        job.old_leases.append(job.lease)
        job.lease = lease
