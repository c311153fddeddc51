"""Changes to many jobs: previewed, begun, carried out a few hundred at a time, cancelled, resumed.

States of an operation: running → done, cancelled or failed. It lives in the database; a process carries it out by
calling `advance` until it is no longer running. If the process dies, the operation stays where it is, and anybody goes
on from there. Jobs are visited once each, newest first, and only those that were created before it began.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from uuid import UUID

from howdah.admin import order_store
from howdah.admin.filter_text import parse_filter, render_filter
from howdah.admin.filters import JobFilter
from howdah.admin.listing import Budget, count_jobs, find_jobs
from howdah.admin.order_store import Step
from howdah.admin.orders import BulkOperation, Change, Kind, State
from howdah.admin.views import Count, Found
from howdah.db.faults import is_busy
from howdah.db.op import Operation
from howdah.db.sessions import Sessions
from howdah.model.errors import FilterError, OptionError, UserError
from howdah.model.job_id import new_job_id
from howdah.model.status import Status

CHUNK = 500
SELECTION_LIMIT = 10_000
#: Between two chunks, so that they never take the server for themselves.
BREATH = 0.02
#: What one step may search before it puts on record how far it has come.
_STEP_BUDGET = Budget(look=100_000, seconds=1.0)
_UNFINISHED = (Status.PENDING, Status.CLAIMED, Status.RUNNING)
_ENDED = (Status.COMPLETED, Status.FAILED, Status.CANCELLED)
#: Jobs in another state are left as they are: there is no use in visiting them.
_FIT = {
    Kind.RETRY: (Status.PENDING, *_ENDED),
    Kind.CANCEL: _UNFINISHED,
    Kind.DELETE: _ENDED,
    Kind.RUN_NOW: (Status.PENDING,),
    Kind.PRIORITY: _UNFINISHED,
    Kind.QUEUE: _UNFINISHED,
}


#: Of which status, where the filter does not say: who retries all jobs of a type does not mean those that completed.
_MEANT = {**_FIT, Kind.RETRY: (Status.FAILED,)}


class NoSuchOperation(UserError, LookupError):
    """No operation with that id; `howdah operations` lists them."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What an operation would do: to how many jobs, of which filter."""

    change: Change
    filter: str
    count: Count


@dataclass(frozen=True, slots=True)
class BulkOrder:
    """A change to all jobs of a filter, or to selected ones. It brings its id, so that an order whose reply was lost
    can be repeated."""

    change: Change
    selection: JobFilter | Sequence[UUID]
    who: str
    estimate: int | None = None
    id: UUID = field(default_factory=new_job_id)


def narrowed(change: Change, wanted: JobFilter) -> JobFilter | None:
    """The filter without jobs that the change leaves as they are; None: it leaves all of them."""
    fit = _FIT[change.kind]
    statuses = tuple(status for status in wanted.statuses or _MEANT[change.kind] if status in fit)
    return replace(wanted, statuses=statuses) if statuses else None


def preview(change: Change, wanted: JobFilter, budget: Budget | None = None) -> Operation[Preview]:
    """How many jobs it would change, counted within the budget."""
    fit = narrowed(change, wanted)
    count = Count(0, exact=True) if fit is None else (yield from count_jobs(fit, budget or Budget()))
    return Preview(change, render_filter(wanted), count)


def begin(order: BulkOrder) -> Operation[BulkOperation]:
    """Put an operation on record; nothing is done yet. Repeating it changes nothing."""
    selection = order.selection
    if isinstance(selection, JobFilter):
        text = render_filter(selection)
        parse_filter(text)  # it will be read again, so it must be readable
        return (yield from order_store.begin_operation(order.id, order.change, text, order.who, order.estimate))
    ids = list(dict.fromkeys(selection))
    if not 1 <= len(ids) <= SELECTION_LIMIT:
        raise OptionError(f"{len(ids):,} jobs are selected; 1 to {SELECTION_LIMIT:,} can be, and a filter names more")
    return (yield from order_store.begin_operation(order.id, order.change, ids, order.who, len(ids)))


def advance(operation_id: UUID, chunk: int = CHUNK) -> Operation[BulkOperation]:
    """Do the next few jobs; the operation as it then stands. Each statement in a transaction of its own, and safe to
    repeat."""
    operation = yield from get(operation_id)
    if operation.state is not State.RUNNING:
        return operation
    try:
        found = yield from _next(operation, chunk)
    except FilterError as error:
        return _present((yield from order_store.fail_operation(operation_id, str(error))))
    last = len(found.ids) < chunk and found.searched_to is None
    end = found.ids[-1] if len(found.ids) >= chunk else (found.searched_to or operation.cursor)
    step = Step(operation_id, operation.cursor, found.ids, end, last)
    try:
        return _present((yield from order_store.step_operation(step, patient=True)))
    except Exception as error:
        if not is_busy(error):
            raise
        # Somebody holds one of them for seconds: the others must not wait for it.
        return _present((yield from order_store.step_operation(step, patient=False)))


def _next(operation: BulkOperation, chunk: int) -> Operation[Found]:
    """The next jobs, newest first, and how far the search came."""
    if operation.job_ids is not None:
        left = sorted((one for one in operation.job_ids if _is_below(one, operation.cursor)), reverse=True)
        return Found(left[:chunk])
    change = Change.read(operation.kind, operation.argument)
    fit = narrowed(change, parse_filter(operation.filter))
    if fit is None:
        return Found([])
    bounded = _created_before(fit, operation)
    return (yield from find_jobs(bounded, operation.cursor, chunk, _STEP_BUDGET, operation.started_at))


def _is_below(job_id: UUID, cursor: UUID | None) -> bool:
    return cursor is None or job_id < cursor


def _created_before(wanted: JobFilter, operation: BulkOperation) -> JobFilter:
    resolved = wanted.resolved(operation.started_at)
    until = resolved.created_until
    earlier = isinstance(until, datetime) and until < operation.started_at
    return resolved if earlier else replace(resolved, created_until=operation.started_at)


def get(operation_id: UUID) -> Operation[BulkOperation]:
    """The operation as it stands."""
    return _present((yield from order_store.get_operation(operation_id)))


def cancel(operation_id: UUID, who: str) -> Operation[BulkOperation]:
    """Let it do nothing more; what was done stays done."""
    return _present((yield from order_store.cancel_operation(operation_id, who)))


def _present(operation: BulkOperation | None) -> BulkOperation:
    if operation is None:
        raise NoSuchOperation
    return operation


def carry_out(
    sessions: Sessions, operation_id: UUID, tell: Callable[[BulkOperation], None] | None = None
) -> BulkOperation:
    """Advance it, in blocking code, until it has ended; `tell` hears of every step. Also resumes what another process
    has left."""
    while True:
        operation = sessions.run(partial(advance, operation_id))
        if tell is not None:
            tell(operation)
        if operation.state is not State.RUNNING:
            return operation
        time.sleep(BREATH)


async def carry_out_async(
    sessions: Sessions, operation_id: UUID, tell: Callable[[BulkOperation], None] | None = None
) -> BulkOperation:
    """The same in async code."""
    while True:
        operation = await sessions.run_async(partial(advance, operation_id))
        if tell is not None:
            tell(operation)
        if operation.state is not State.RUNNING:
            return operation
        await asyncio.sleep(BREATH)
