"""What a worker asks of the database, one operation per SQL file. Every write of a claim carries its lease, and rows go
in id order, so that two batch writers never wait for each other in a circle."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

from howdah.db import wire_arrays as arrays
from howdah.db.op import Operation, Statement


class ClaimedJob(NamedTuple):
    """What a worker needs of a job that it has claimed. Fields in the order of worker/claim.sql; a tuple, because that
    is what the driver makes of a row. An id is its 16 bytes here: a UUID object would cost more than all the rest."""

    claim: int
    id: bytes
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
    #: Seconds that it had been due when it was claimed, by the database's clock.
    waited: float = 0.0
    #: What the enqueuer's OpenTelemetry wants passed on, as JSON text.
    trace: str | None = None


@dataclass(frozen=True, slots=True)
class Demand:
    """What to claim: at most `batch`, and of the queues of one pool together at most its limit (None: any mix)."""

    batch: int
    queues: list[str]
    limits: list[int] | None = None
    pools: list[int] | None = None


class Completion(NamedTuple):
    """A job that its handler finished; `result` is JSON text."""

    id: bytes
    lease: int
    result: str | None
    ran: float


@dataclass(frozen=True, slots=True)
class Ending:
    """A claim that ends otherwise; `outcome` is one of finish_jobs' words."""

    id: bytes
    lease: int
    outcome: str
    error: str | None = None
    delay: float | None = None
    ran: float | None = None
    #: Whether the error is in the handler's words, which may quote what the job carries.
    by_handler: bool = False


@dataclass(frozen=True, slots=True)
class Running:
    """What a running job has to say."""

    id: bytes
    lease: int
    progress: int | None
    stage: str | None
    ran: float


@dataclass(frozen=True, slots=True)
class Happening:
    """An event that a job published `age` seconds ago."""

    id: bytes
    lease: int
    seq: int
    name: str
    data: str | None
    age: float


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a claim that was accepted as ended."""

    id: bytes
    status: str
    run_in: float | None


class Place(NamedTuple):
    """Where in the line to begin; texts that the database wrote. Without marks: at its head. `strays` and `seen`: what
    is known to lie behind the marks, and since when to look for more of it; null: not to be looked for."""

    marks: str | None = None
    strays: str | None = None
    seen: str | None = None


class Haul(NamedTuple):
    """What a claim brought: the jobs, in no order; whether there may be more where they came from; the seconds until
    something scheduled is due; and, of a claim from a place, where to begin the next time, with the near marks and with
    the far ones, and how long it looked for the first rows."""

    jobs: list[ClaimedJob]
    more: bool
    due: float | None
    near: Place | None = None
    far: Place | None = None
    looked: float = 0.0


def claim(worker_id: str, job_types: Sequence[str], demand: Demand, place: Place) -> Operation[Haul]:
    """Jobs to run, of the best there are from this place on."""
    rows = yield Statement("worker/claim", {**_claim_parameters(worker_id, job_types, demand), **place._asdict()})
    about = rows.pop(0)
    due, memory, took = about[6:9]
    jobs = list(map(_make_claimed, rows))
    if memory is None:
        # There is nothing to remember: a lane of very many priorities.
        return Haul(jobs, len(jobs) >= demand.batch, due)
    said = json.loads(memory)
    far = Place(said["far"], said["strays"], said["seen"])
    return Haul(jobs, took >= demand.batch, due, Place(said["near"]), far, said["looked"])


def claim_carefully(worker_id: str, job_types: Sequence[str], demand: Demand) -> Operation[Haul]:
    """Jobs to run, of the best there are; waits for nobody, whatever is locked."""
    rows = yield Statement("worker/claim_carefully", _claim_parameters(worker_id, job_types, demand))
    jobs = [ClaimedJob(*row[1:]) for row in rows if row[1] is not None]
    return Haul(jobs, len(jobs) >= demand.batch, rows[0][0])


def _claim_parameters(worker_id: str, job_types: Sequence[str], demand: Demand) -> dict[str, object]:
    return {
        "worker_id": worker_id,
        "job_types": list(job_types),
        "batch": demand.batch,
        "queues": demand.queues,
        "limits": demand.limits,
        "pools": demand.pools,
    }


#: Quicker than ClaimedJob(*row): the row has the right fields already.
_make_claimed: Callable[[tuple[Any, ...]], ClaimedJob] = partial(tuple.__new__, ClaimedJob)


def complete(done: Sequence[Completion], claims: Sequence[int]) -> Operation[set[bytes]]:
    """Acknowledge completions; the ids that were refused."""
    ids, leases, results, ran = zip(*sorted(done, key=itemgetter(0)), strict=True)
    rows = yield Statement(
        "worker/complete",
        {
            "ids": arrays.ids(ids),
            "leases": arrays.whole_numbers(leases),
            "results": None if results.count(None) == len(results) else arrays.texts(results),
            "ran": arrays.numbers(ran),
            "claims": arrays.whole_numbers(claims) if claims else None,
        },
    )
    return set(rows[0][0])


def finish(ended: Sequence[Ending], claims: Sequence[int]) -> Operation[list[Ended]]:
    """End claims otherwise; what was accepted."""
    ended = sorted(ended, key=_by_id)
    rows = yield Statement(
        "worker/finish",
        {
            "ids": arrays.ids([e.id for e in ended]),
            "leases": arrays.whole_numbers([e.lease for e in ended]),
            "outcomes": arrays.texts([e.outcome for e in ended]),
            "errors": arrays.texts([e.error for e in ended]),
            "delays": arrays.numbers([e.delay for e in ended]),
            "ran": arrays.numbers([e.ran for e in ended]),
            "claims": arrays.whole_numbers(claims),
        },
    )
    return [Ended(*row) for row in rows]


def not_locked(ids: Sequence[bytes]) -> Operation[set[bytes]]:
    """Which of these jobs could be written to now without waiting for anybody."""
    rows = yield Statement("worker/not_locked", {"ids": arrays.ids(ids)})
    return set(rows[0][0])


def reconcile(worker_id: str, known: Sequence[bytes], older: timedelta) -> Operation[int]:
    """Release what the table says this worker holds and it does not know of; how many."""
    rows = yield Statement("worker/reconcile", {"worker_id": worker_id, "ids": arrays.ids(known), "older": older})
    return int(rows[0][0])


def report(running: Sequence[Running], events: Sequence[Happening] = ()) -> Operation[set[bytes]]:
    """What running jobs say, and their events; the ids whose report was accepted."""
    running = sorted(running, key=_by_id)
    rows = yield Statement(
        "worker/report",
        {
            "ids": arrays.ids([r.id for r in running]),
            "leases": arrays.whole_numbers([r.lease for r in running]),
            "progress": arrays.whole_numbers([r.progress for r in running]),
            "stages": arrays.texts([r.stage for r in running]),
            "ran": arrays.numbers([r.ran for r in running]),
            "event_ids": arrays.ids([e.id for e in events]),
            "event_leases": arrays.whole_numbers([e.lease for e in events]),
            "seqs": arrays.whole_numbers([e.seq for e in events]),
            "names": arrays.texts([e.name for e in events]),
            "data": arrays.texts([e.data for e in events]),
            "ages": arrays.numbers([e.age for e in events]),
        },
    )
    return set(rows[0][0])


def heartbeat(
    worker_id: str, held: Sequence[tuple[bytes, int]], load: str | None = None
) -> Operation[dict[bytes, str]]:
    """This worker lives, and is at this; for each of its jobs 'held', 'cancel' or 'lost'."""
    rows = yield Statement(
        "worker/heartbeat",
        {
            "worker_id": worker_id,
            "ids": arrays.ids([h[0] for h in held]),
            "leases": arrays.whole_numbers([h[1] for h in held]),
            "load": load,
        },
    )
    return {row[0]: row[1] for row in rows}


def tell() -> Operation[bool]:
    """Tell whoever watches that something was written; whether anybody does."""
    rows = yield Statement("worker/tell")
    return bool(rows[0][0])


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


def record_stats(stats: str) -> Operation[None]:
    """What was done since the last time, as JSON text: into the minute and the hour of now."""
    yield Statement("worker/record_stats", {"stats": stats})


def unregister(worker_id: str) -> Operation[None]:
    """A worker leaves."""
    yield Statement("worker/unregister", {"worker_id": worker_id})


def _by_id(item: Ending | Running) -> bytes:
    return item.id
