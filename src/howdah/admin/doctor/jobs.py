"""Checks of jobs that will not move by themselves."""

from __future__ import annotations

from collections.abc import Sequence

from howdah.admin.doctor import store
from howdah.admin.doctor.finding import Verdict, fail, ok, warn
from howdah.admin.doctor.patient import Patient
from howdah.admin.doctor.wording import counted, listed, span


def plain_claims(patient: Patient) -> Verdict:
    """Jobs held by callers who send no heartbeats: nobody knows whether they live, so they are left alone for long."""
    found = patient.ask(store.list_plain_claims(patient.limits.rescue_delay))
    if not found:
        return ok("nobody holds jobs without heartbeats")
    names = listed(
        [
            f"{claim.worker_id} holds {counted(claim.jobs, 'job')} for {span(claim.age)}, rescued "
            + (f"in {span(claim.rescued_in)}" if claim.rescued_in.total_seconds() > 0 else "any moment")
            for claim in found
        ]
    )
    if found[0].age > patient.limits.plain_claim:
        return warn(
            f"without heartbeats: {names}",
            "if that program is gone, call recover_stale_jobs(); if it lives, let it call heartbeat()",
        )
    return ok(f"without heartbeats: {names}")


def stuck_jobs(patient: Patient) -> Verdict:
    """No job is held by somebody who is long gone."""
    limits = patient.limits
    unrescued = patient.ask(store.list_unrescued(limits.rescue_delay))
    if unrescued:
        names = listed([f"{u.worker_id} holds {counted(u.jobs, 'job')}, silent for {span(u.age)}" for u in unrescued])
        return fail(
            f"not rescued: {names}",
            "start a worker (each rescues every few seconds), or call rescue_jobs()",
        )
    unlisted = patient.ask(store.list_unlisted(limits.newest, limits.rescue_delay))
    if unlisted:
        return fail(
            f"held, but in no claim, so that no rescue finds them: {_some(unlisted)}{_bounds(patient)}",
            "if nobody works on them, set their status back to pending; docs/doctor.md shows the statement",
        )
    return ok(f"every held job is somebody's who lives{_bounds(patient)}")


def used_up_jobs(patient: Patient) -> Verdict:
    """No pending job has its attempts used up: no claim would take it."""
    found = patient.ask(store.list_used_up(patient.limits.newest))
    if not found:
        return ok(f"every pending job has attempts left{_bounds(patient)}")
    return warn(
        f"pending with no attempts left: {_some(found)}{_bounds(patient)}",
        f"`howdah retry {found[0].id}` gives it one more, `howdah cancel {found[0].id}` ends it",
    )


def lost_jobs(patient: Patient) -> Verdict:
    """Every pending job stands in a line."""
    found = patient.ask(store.list_lost(patient.limits.newest))
    if not found:
        return ok(f"every pending job stands in a line{_bounds(patient)}")
    return fail(
        f"pending, but in no line, so that no claim finds them: {_some(found)}{_bounds(patient)}",
        f"`howdah retry {found[0].id}` puts it back; were triggers disabled, or a line changed by hand?",
    )


def overdue_jobs(patient: Patient) -> Verdict:
    """What is due moves on while workers live."""
    limits = patient.limits
    number, latest = patient.ask(store.count_overdue(limits.overdue, limits.count))
    if not number or latest is None:
        return ok(f"nothing scheduled is late by more than {span(limits.overdue)}")
    message = f"{counted(number, 'scheduled job', limits.count)} late, by up to {span(latest)}"
    if not any(worker.alive for worker in patient.ask(store.list_workers())):
        return ok(f"{message}; no worker is alive, see the check `workers`")
    return warn(message, "workers move due jobs when they claim: if all are full, start more; else look at their logs")


def _some(samples: Sequence[store.Sample]) -> str:
    names = listed([f"{sample.id} ({sample.job_type})" for sample in samples])
    more = samples[0].total - len(samples)
    return f"{names} and {more:,} more" if more else names


def _bounds(patient: Patient) -> str:
    return f" (searched: the newest {patient.limits.newest:,} jobs)"
