"""What a worker asks of the database, one operation per SQL file. Every write of a claim carries its lease, and rows go
in id order, so that two batch writers never wait for each other in a circle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from howdah.db import arrays
from howdah.db.op import Operation, Statement


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """What a worker needs of a job that it has claimed. Fields in the order of worker/claim.sql."""

    claim: int
    id: UUID
    lease: int
    job_type: str
    queue: str
    priority: int
    created_at: float
    data: str
    attempts: int
    max_attempts: int
    errors: int
    deaths: int
    events_count: int


@dataclass(frozen=True, slots=True)
class Demand:
    """What to claim: at most `batch`, and of the queues of one pool together at most its limit (None: any mix)."""

    batch: int
    queues: list[str]
    limits: list[int] | None = None
    pools: list[int] | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """A job that its handler finished; `result` is JSON text."""

    id: UUID
    lease: int
    result: str | None
    ran: float


@dataclass(frozen=True, slots=True)
class Ending:
    """A claim that ends otherwise; `outcome` is one of finish_jobs' words."""

    id: UUID
    lease: int
    outcome: str
    error: str | None = None
    delay: float | None = None
    ran: float | None = None


@dataclass(frozen=True, slots=True)
class Running:
    """What a running job has to say."""

    id: UUID
    lease: int
    progress: int | None
    stage: str | None
    ran: float


@dataclass(frozen=True, slots=True)
class Happening:
    """An event that a job published `age` seconds ago."""

    id: UUID
    lease: int
    seq: int
    name: str
    data: str | None
    age: float


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a claim that was accepted as ended."""

    id: UUID
    status: str
    run_in: float | None


def claim(worker_id: str, job_types: Sequence[str], demand: Demand) -> Operation[tuple[list[ClaimedJob], float | None]]:
    """Jobs to run, best first, and the seconds until something scheduled is due."""
    rows = yield Statement(
        "worker/claim",
        {
            "worker_id": worker_id,
            "job_types": list(job_types),
            "batch": demand.batch,
            "queues": demand.queues,
            "limits": demand.limits,
            "pools": demand.pools,
        },
    )
    return [ClaimedJob(*row[1:]) for row in rows if row[1] is not None], rows[0][0]


def complete(done: Sequence[Completion], claims: Sequence[int]) -> Operation[set[UUID]]:
    """Acknowledge completions; the ids that were refused."""
    done = sorted(done, key=_by_id)
    rows = yield Statement(
        "worker/complete",
        {
            "ids": arrays.ids(c.id for c in done),
            "leases": arrays.numbers(c.lease for c in done),
            "results": arrays.texts(c.result for c in done),
            "ran": arrays.numbers(c.ran for c in done),
            "claims": arrays.numbers(claims),
        },
    )
    return set(rows[0][0])


def finish(ended: Sequence[Ending], claims: Sequence[int]) -> Operation[list[Ended]]:
    """End claims otherwise; what was accepted."""
    ended = sorted(ended, key=_by_id)
    rows = yield Statement(
        "worker/finish",
        {
            "ids": arrays.ids(e.id for e in ended),
            "leases": arrays.numbers(e.lease for e in ended),
            "outcomes": arrays.texts(e.outcome for e in ended),
            "errors": arrays.texts(e.error for e in ended),
            "delays": arrays.numbers(e.delay for e in ended),
            "ran": arrays.numbers(e.ran for e in ended),
            "claims": arrays.numbers(claims),
        },
    )
    return [Ended(*row) for row in rows]


def not_locked(ids: Sequence[UUID]) -> Operation[set[UUID]]:
    """Which of these jobs could be written to now without waiting for anybody."""
    rows = yield Statement("worker/not_locked", {"ids": arrays.ids(ids)})
    return set(rows[0][0])


def reconcile(worker_id: str, known: Sequence[UUID], older: timedelta) -> Operation[int]:
    """Release what the table says this worker holds and it does not know of; how many."""
    rows = yield Statement("worker/reconcile", {"worker_id": worker_id, "ids": arrays.ids(known), "older": older})
    return int(rows[0][0])


def report(running: Sequence[Running], events: Sequence[Happening] = ()) -> Operation[set[UUID]]:
    """What running jobs say, and their events; the ids whose report was accepted."""
    running = sorted(running, key=_by_id)
    rows = yield Statement(
        "worker/report",
        {
            "ids": arrays.ids(r.id for r in running),
            "leases": arrays.numbers(r.lease for r in running),
            "progress": arrays.numbers(r.progress for r in running),
            "stages": arrays.texts(r.stage for r in running),
            "ran": arrays.numbers(r.ran for r in running),
            "event_ids": arrays.ids(e.id for e in events),
            "event_leases": arrays.numbers(e.lease for e in events),
            "seqs": arrays.numbers(e.seq for e in events),
            "names": arrays.texts(e.name for e in events),
            "data": arrays.texts(e.data for e in events),
            "ages": arrays.numbers(e.age for e in events),
        },
    )
    return set(rows[0][0])


def heartbeat(worker_id: str, held: Sequence[tuple[UUID, int]]) -> Operation[dict[UUID, str]]:
    """This worker lives; for each of its jobs 'held', 'cancel' or 'lost'."""
    rows = yield Statement(
        "worker/heartbeat",
        {"worker_id": worker_id, "ids": arrays.ids(h[0] for h in held), "leases": arrays.numbers(h[1] for h in held)},
    )
    return {row[0]: row[1] for row in rows}


def register(
    worker_id: str, silence: timedelta, queues: Sequence[str], job_types: Sequence[str], info: str
) -> Operation[None]:
    """A worker starts."""
    yield Statement(
        "worker/register",
        {
            "worker_id": worker_id,
            "silence": silence,
            "queues": list(queues),
            "job_types": list(job_types),
            "info": info,
        },
    )


def unregister(worker_id: str) -> Operation[None]:
    """A worker leaves."""
    yield Statement("worker/unregister", {"worker_id": worker_id})


def _by_id(item: Completion | Ending | Running) -> bytes:
    return item.id.bytes
