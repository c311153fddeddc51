"""deep: drains, and what people ask, with millions of jobs in the tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from uuid import UUID

from howdah.admin import store as admin
from howdah.admin.filters import JobFilter
from howdah.admin.listing import list_jobs
from howdah.bench import store
from howdah.bench.draining import drain
from howdah.bench.filling import fill_deep
from howdah.bench.floor import drain_floor
from howdah.bench.jobs import app
from howdah.bench.outcome import Figures, Outcome, percentile, ratio
from howdah.bench.scenarios.drain import JOBS
from howdah.bench.stage import Stage
from howdah.db.op import Operation
from howdah.model.status import Status

PENDING, FINISHED, SCHEDULED = 5_000_000, 20_000_000, 1_000_000
CALLS = 300
_EVENTS_SHOWN = 20


def measure(stage: Stage) -> Outcome:
    """All drains on empty tables first, because filling takes minutes; then all on full ones."""
    settings = stage.settings
    jobs = settings.jobs or JOBS
    pending = PENDING if settings.pending is None else settings.pending
    finished = FINISHED if settings.finished is None else settings.finished
    scheduled = SCHEDULED if settings.scheduled is None else settings.scheduled
    sizes = {"pending": pending, "finished": finished, "scheduled": scheduled}
    outcome = Outcome("deep", {"jobs": jobs, **sizes, "calls": CALLS})
    outcome.remark("a ratio compares the drains of one round, on empty tables and later on full ones")
    for number in range(1, settings.rounds + 1):
        stage.say(f"deep: round {number} of {settings.rounds} on empty tables")
        stage.run(store.empty())
        empty = drain(stage, jobs)
        outcome.troubles.extend(empty.troubles)
        floor, _ = drain_floor(stage, jobs)
        outcome.rounds.append({"empty_jobs_per_second": empty.rate, "floor_jobs_per_second": floor})
    stage.run(store.empty())
    began = time.monotonic()
    fill_deep(stage, pending, finished, scheduled)
    stage.say(f"deep: filled in {time.monotonic() - began:.0f} s")
    for number, figures in enumerate(outcome.rounds, 1):
        stage.say(f"deep: round {number} of {settings.rounds} on full tables")
        full = drain(stage, jobs)
        outcome.troubles.extend(full.troubles)
        figures["full_jobs_per_second"] = full.rate
        figures["full_to_empty_ratio"] = ratio(full.rate, figures["empty_jobs_per_second"])
        figures["full_ratio_to_floor"] = ratio(full.rate, figures["floor_jobs_per_second"])
        figures.update(_ask(stage))
    return outcome


def _ask(stage: Stage) -> Figures:
    ids = stage.run(store.sample_ids(CALLS))
    questions: dict[str, Callable[[UUID], object]] = {
        "get": app.get,
        "show": _show,
        "ls": lambda _: app.sessions.run(lambda: _list(JobFilter())),
        "ls_pending": lambda _: app.sessions.run(lambda: _list(JobFilter((Status.PENDING,)))),
        "ls_failed": lambda _: app.sessions.run(lambda: _list(JobFilter((Status.FAILED,)))),
    }
    figures: Figures = {}
    for name, question in questions.items():
        question(ids[0])
        taken = _time(question, ids)
        figures[f"{name}_p50_ms"] = percentile(taken, 50)
        figures[f"{name}_p99_ms"] = percentile(taken, 99)
    app.close()
    return figures


def _time(question: Callable[[UUID], object], ids: Sequence[UUID]) -> list[float]:
    taken = []
    for one in ids:
        begin = time.perf_counter()
        question(one)
        taken.append((time.perf_counter() - begin) * 1000)
    return taken


def _show(job_id: UUID) -> None:
    job = app.get(job_id)
    job.events(after=max(0, job.record.events_count - _EVENTS_SHOWN))


def _list(wanted: JobFilter) -> Operation[None]:
    """The page, and what `ls` says about its pending jobs."""
    page = yield from list_jobs(wanted)
    types = sorted({job.job_type for job in page.jobs if job.status is Status.PENDING})
    if types:
        if (yield from admin.list_unknown_types(types)):
            yield from admin.is_served()
        yield from admin.list_pauses()
