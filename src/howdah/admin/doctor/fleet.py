"""Checks of the workers: are they alive, and do they serve what waits?"""

from __future__ import annotations

from collections.abc import Sequence

from howdah.admin.doctor import store
from howdah.admin.doctor.finding import Verdict, ok, warn
from howdah.admin.doctor.patient import Patient
from howdah.admin.doctor.wording import counted, listed, span

_NOBODY = "no worker is alive; see the check `workers`"


def workers(patient: Patient) -> Verdict:
    """Somebody is there to run what waits."""
    alive = [worker for worker in patient.ask(store.list_workers()) if worker.alive]
    if alive:
        return ok(f"{len(alive)} alive: {listed([worker.id for worker in alive])}")
    if patient.ask(store.has_waiting()):
        return warn(
            "none is alive, and jobs wait",
            "start one: `howdah worker package.module:app` (plain SQL claimers count only if they call heartbeat)",
        )
    return ok("none is alive, and nothing waits")


def heartbeats(patient: Patient) -> Verdict:
    """No worker has fallen silent."""
    found = patient.ask(store.list_workers())
    silent = [worker for worker in found if not worker.alive]
    if not silent:
        return ok("every worker was heard within its allowance")
    names = listed([f"{w.id} silent for {span(w.silent)} (allowed: {span(w.allowed)})" for w in silent])
    rescuer = (
        "a live worker rescues its jobs within seconds"
        if len(silent) < len(found)
        else "start a worker to rescue its jobs"
    )
    return warn(names, f"look whether it still runs; {rescuer}")


def unserved_types(patient: Patient) -> Verdict:
    """Every job type that waits is known to a live worker."""
    found = patient.ask(store.list_workers())
    if not any(worker.alive for worker in found):
        return ok(_NOBODY)
    limit = patient.limits.count
    lanes = [lane for lane in patient.ask(store.list_waiting_lanes(limit)) if not lane.type_is_known]
    if not lanes:
        return ok("every waiting job type is known to a live worker")
    names = listed([f"{lane.job_type} ({counted(lane.jobs, 'job', limit)}, queue {lane.queue})" for lane in lanes])
    return warn(
        f"no live worker knows: {names}{_doubt(found)}",
        "deploy a worker whose app registers them, or cancel the jobs if the name is a mistake",
    )


def unserved_queues(patient: Patient) -> Verdict:
    """Every queue on which a known type waits is served."""
    found = patient.ask(store.list_workers())
    if not any(worker.alive for worker in found):
        return ok(_NOBODY)
    limit = patient.limits.count
    waiting = patient.ask(store.list_waiting_lanes(limit))
    lanes = [lane for lane in waiting if lane.type_is_known and not lane.is_served]
    if not lanes:
        return ok("every waiting queue is served by a live worker")
    names = listed([f"{lane.queue} ({counted(lane.jobs, 'job', limit)} of type {lane.job_type})" for lane in lanes])
    return warn(f"no live worker serves: {names}{_doubt(found)}", f"start a worker with `--queue {lanes[0].queue}`")


def pauses(patient: Patient) -> Verdict:
    """What is paused, for information: a pause is somebody's decision, not a fault."""
    limit = patient.limits.count
    found = patient.ask(store.list_pauses(limit))
    if not found:
        return ok("nothing is paused")
    return ok(
        "paused: "
        + listed([f"{p.kind} {p.name} for {span(p.age)}, {counted(p.waiting, 'job', limit)} waiting" for p in found])
    )


def _doubt(found: Sequence[store.WorkerRow]) -> str:
    silent_on_it = sum(worker.alive and worker.undeclared for worker in found)
    return f" ({counted(silent_on_it, 'live worker')} did not say what they serve)" if silent_on_it else ""
