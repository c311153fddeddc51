"""Which metrics there are, and their names: those of one worker, and those of the queues."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

from howdah.telemetry.exposition import Family, counter, gauge, histogram
from howdah.telemetry.histogram import BOUNDS
from howdah.telemetry.tally import NAMELESS, OUTCOMES, Kind, Series, Sizes, Tally

#: Of the buckets that are kept, those that are told, each 2.5 times the one before: 1 ms to 2,500 s.
_TOLD = [BOUNDS.index(0.001) + 2 * step for step in range(17)]
OTHER = "(other)"


@dataclass(frozen=True, slots=True)
class Standing:
    """A worker at this moment."""

    worker_id: str
    version: str
    running: int
    buffered: int
    slots: int
    backlog: int
    heartbeat_age: float
    memory: int
    cpu_seconds: float
    started_at: float


def worker_families(tally: Tally, standing: Standing) -> list[Family]:
    """Everything that a worker tells of itself."""
    return [*_job_families(tally.copy()), *_batch_families(tally), *_standing_families(standing)]


def _job_families(series: dict[Kind, Series]) -> list[Family]:
    started = counter("howdah_jobs_started_total", "Attempts whose handler has started.")
    finished = counter("howdah_jobs_finished_total", "Attempts that were acknowledged, by how they ended.")
    rescued = counter("howdah_jobs_rescued_total", "Jobs that this worker took back from silent workers.")
    ran = histogram("howdah_job_duration_seconds", "How long handlers ran, of attempts that completed or failed.")
    waited = histogram("howdah_job_wait_seconds", "From when a job was due to the start of its handler.")
    for kind, one in sorted(series.items()):
        job_type, queue = (OTHER, OTHER) if kind == NAMELESS else kind
        labels = {"queue": queue, "job_type": job_type}
        started.sample(one.started, **labels)
        for outcome in OUTCOMES:
            finished.sample(getattr(one, outcome), outcome=outcome, **labels)
        rescued.sample(one.rescued, **labels)
        ran.buckets([BOUNDS[place] for place in _TOLD], _fewer(one.ran), one.ran_seconds, **labels)
        waited.buckets([BOUNDS[place] for place in _TOLD], _fewer(one.waited), one.waited_seconds, **labels)
    return [started, finished, rescued, ran, waited]


def _fewer(counts: list[int]) -> list[int]:
    """The counts of all buckets as those of the ones that are told."""
    edges = [0, *(place + 1 for place in _TOLD), len(counts)]
    return [sum(counts[low:high]) for low, high in pairwise(edges)]


def _batch_families(tally: Tally) -> list[Family]:
    said: list[tuple[Callable[[str, str], Family], str, str, Sizes]] = [
        (
            histogram,
            "howdah_claim_batch_size",
            "Jobs that a claim brought; claims that brought none are not counted.",
            tally.claims,
        ),
        (histogram, "howdah_ack_batch_size", "Ended jobs in one acknowledgement.", tally.acks),
        (histogram, "howdah_loop_lag_seconds", "How late the event loop was, looked at twice a second.", tally.lag),
    ]
    families = []
    for make, name, text, sizes in said:
        family = make(name, text)
        family.buckets(sizes.bounds, list(sizes.counts), sizes.sum)
        families.append(family)
    return families


def _standing_families(standing: Standing) -> Iterable[Family]:
    info = gauge("howdah_worker_info", "Always 1; who this is, in its labels.")
    info.sample(1, worker_id=standing.worker_id, version=standing.version)
    yield info
    for make, name, text, value in (
        (gauge, "howdah_jobs_running", "Slots in use.", standing.running),
        (gauge, "howdah_jobs_buffered", "Claimed jobs that wait in the worker for a slot.", standing.buffered),
        (gauge, "howdah_worker_slots", "Jobs that may run at once.", standing.slots),
        (gauge, "howdah_ack_backlog", "Ended jobs whose end is not written yet.", standing.backlog),
        (gauge, "howdah_heartbeat_age_seconds", "Since the last heartbeat that arrived.", standing.heartbeat_age),
        (gauge, "process_resident_memory_bytes", "Resident memory size in bytes.", standing.memory),
        (
            counter,
            "process_cpu_seconds_total",
            "Total user and system CPU time spent in seconds.",
            standing.cpu_seconds,
        ),
        (
            gauge,
            "process_start_time_seconds",
            "Start time of the process since unix epoch in seconds.",
            standing.started_at,
        ),
    ):
        family = make(name, text)
        family.sample(value)
        yield family


def queue_families(depths: Iterable[tuple[str, str, int, int, float | None, bool]] | None) -> list[Family]:
    """What waits, of each queue and job type: (queue, job type, ready, scheduled, seconds that the oldest has been due,
    paused). None: the database could not be asked."""
    up = gauge("howdah_queues_up", "Whether the database told what waits.")
    up.sample(0 if depths is None else 1)
    ready = gauge("howdah_queue_ready_jobs", "Jobs that may be claimed now; counting stops at 10,000.")
    scheduled = gauge("howdah_queue_scheduled_jobs", "Jobs that wait for their time, among the next 10,000 of all.")
    oldest = gauge("howdah_queue_oldest_seconds", "For how long the oldest job that may be claimed has been due.")
    paused = gauge("howdah_queue_paused", "Whether the queue or the job type is paused.")
    for queue, job_type, waiting, later, age, is_paused in depths or ():
        labels = {"queue": queue, "job_type": job_type}
        ready.sample(waiting, **labels)
        scheduled.sample(later, **labels)
        oldest.sample(age or 0.0, **labels)
        paused.sample(int(is_paused), **labels)
    return [up, ready, scheduled, oldest, paused]
