"""Why a job is not running: every reason that keeps it from starting, the one to look at first first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from howdah.admin import store, why_store
from howdah.admin.views import Pause, PauseKind
from howdah.admin.why_store import Case, Server
from howdah.db.op import Operation
from howdah.model.durations import format_duration
from howdah.model.errors import JobNotFound
from howdah.model.status import Status

AHEAD_LIMIT = 10_000
HELD_LIMIT = 10_000


class Cause(StrEnum):
    """What kind of reason it is, for programs."""

    ENDED = "ended"
    POISON = "poison"
    RUNNING = "running"
    CLAIMED = "claimed"
    CANCEL_REQUESTED = "cancel_requested"
    NO_ATTEMPTS = "no_attempts"
    SCHEDULED = "scheduled"
    RETRY_DELAY = "retry_delay"
    PAUSED_QUEUE = "paused_queue"
    PAUSED_TYPE = "paused_type"
    NO_WORKER = "no_worker"
    TYPE_UNKNOWN = "type_unknown"
    QUEUE_UNSERVED = "queue_unserved"
    NOT_TOGETHER = "not_together"
    BUSY = "busy"
    AHEAD = "ahead"
    READY = "ready"


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason, in words; with the time since or until which it holds, and a number, where there is one."""

    cause: Cause
    words: str
    since: datetime | None = None
    until: datetime | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Why:
    """A job, and why it is not running. `runs`: it does. The first reason is the one to look at first."""

    job_id: UUID
    status: Status
    runs: bool
    reasons: list[Reason]


def find_why(job_id: UUID, most: int = AHEAD_LIMIT) -> Operation[Why]:
    """Every reason that keeps the job from starting."""
    case = yield from why_store.get_line(job_id)
    if case is None:
        raise JobNotFound(f"no job {job_id}; it may be past its retention, in another database, or not committed")
    if case.status is not Status.PENDING:
        return Why(case.id, case.status, case.status is Status.RUNNING, list(_not_waiting(case)))
    pauses = yield from store.list_pauses()
    servers = yield from why_store.list_servers(case, HELD_LIMIT)
    reasons = [*_own(case), *_paused(case, pauses), *_unserved(case, servers)]
    if not reasons:
        ahead = yield from why_store.count_ahead(case, most)
        reasons = list(_in_line(case, servers, ahead, most))
    return Why(case.id, case.status, False, reasons)


def _not_waiting(case: Case) -> Iterator[Reason]:
    held_by = f"worker {case.worker_id}" if case.worker_id else "somebody"
    if case.status in (Status.CLAIMED, Status.RUNNING) and case.cancel_requested_at is not None:
        yield Reason(
            Cause.CANCEL_REQUESTED, "its cancellation was asked for; its worker is told", case.cancel_requested_at
        )
    match case.status:
        case Status.RUNNING:
            yield Reason(Cause.RUNNING, f"it is running on {held_by}", case.started_at)
        case Status.CLAIMED:
            words = f"{held_by} has claimed it and starts it as soon as a slot is free"
            yield Reason(Cause.CLAIMED, words, case.claimed_at)
        case Status.FAILED if (case.error_start or "").startswith("poison: "):
            words = f"it was set aside as poison: {case.deaths} workers died holding it; `howdah retry` runs it again"
            yield Reason(Cause.POISON, words, case.completed_at, count=case.deaths)
        case _:
            words = "" if case.status is Status.COMPLETED else "; `howdah retry` runs it again"
            yield Reason(Cause.ENDED, f"it has ended as {case.status}{words}", case.completed_at)


def _own(case: Case) -> Iterator[Reason]:
    if case.attempts >= case.max_attempts:
        words = f"it has no attempts left ({case.attempts} of {case.max_attempts}); `howdah retry` gives it one"
        yield Reason(Cause.NO_ATTEMPTS, words)
    if case.run_at is not None and case.run_at > case.now:
        left = format_duration(case.run_at - case.now)
        if case.errors and case.attempts:
            words = f"it failed ({case.errors} so far) and is tried again in {left}"
            yield Reason(Cause.RETRY_DELAY, words, until=case.run_at, count=case.errors)
        else:
            yield Reason(Cause.SCHEDULED, f"it is scheduled, due in {left}", until=case.run_at)


def _paused(case: Case, pauses: list[Pause]) -> Iterator[Reason]:
    for pause in pauses:
        if pause.kind is PauseKind.QUEUE and pause.name == case.queue:
            words = f"queue {case.queue} is paused; `howdah resume {case.queue}` lets it go on"
            yield Reason(Cause.PAUSED_QUEUE, words, pause.paused_at)
        if pause.kind is PauseKind.TYPE and pause.name == case.job_type:
            words = f"job type {case.job_type} is paused; `howdah resume --type {case.job_type}` lets it go on"
            yield Reason(Cause.PAUSED_TYPE, words, pause.paused_at)


def _unserved(case: Case, servers: list[Server]) -> Iterator[Reason]:
    if any(server.knows_type and server.serves_queue for server in servers):
        return
    if not servers:
        yield Reason(Cause.NO_WORKER, "no worker is running")
        return
    knows = any(server.knows_type for server in servers)
    serves = any(server.serves_queue for server in servers)
    if not knows:
        yield Reason(Cause.TYPE_UNKNOWN, f"no live worker knows job type {case.job_type}", count=len(servers))
    if not serves:
        yield Reason(Cause.QUEUE_UNSERVED, f"no live worker serves queue {case.queue}", count=len(servers))
    if knows and serves:
        words = f"no live worker that knows job type {case.job_type} serves queue {case.queue}"
        yield Reason(Cause.NOT_TOGETHER, words, count=len(servers))


def _in_line(case: Case, servers: list[Server], ahead: int, most: int) -> Iterator[Reason]:
    able = [server for server in servers if server.knows_type and server.serves_queue]
    known = [server for server in able if server.slots is not None]
    busy = known == able and all(server.held >= (server.slots or 0) for server in known)
    if busy:
        held = sum(server.held for server in able)
        who = (
            "the only worker that could run it is"
            if len(able) == 1
            else f"all {len(able)} workers that could run it are"
        )
        yield Reason(Cause.BUSY, f"{who} busy, with {held:,} jobs", count=len(able))
    if ahead:
        number = f"{ahead:,} or more jobs are" if ahead >= most else "1 job is" if ahead == 1 else f"{ahead:,} jobs are"
        yield Reason(Cause.AHEAD, f"{number} ahead of it: of higher priority, or older", count=ahead)
    elif not busy:
        yield Reason(Cause.READY, "nothing keeps it: it is next, and a worker should claim it within a second")
