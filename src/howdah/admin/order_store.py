"""What operators order of the database, one operation per SQL file. Everything here is put on record in the transaction
that does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from howdah.admin.orders import Answer, AuditEntry, BulkOperation, Change, Kind, State, check_who
from howdah.admin.views import PauseKind
from howdah.db import arrays
from howdah.db.op import Operation, Row, Statement


@dataclass(frozen=True, slots=True)
class Step:
    """The next jobs of an operation: those to be done, and the cursor before and after them. `last`: none is left."""

    operation_id: UUID
    start: UUID | None
    ids: Sequence[UUID]
    end: UUID | None
    last: bool


def administer(change: Change, ids: Sequence[UUID], who: str) -> Operation[list[Answer]]:
    """Do it to these jobs; an answer for each that was found. Safe to repeat."""
    parameters = {"kind": str(change.kind), "ids": arrays.ids(ids), "argument": change.argument, "who": check_who(who)}
    return [Answer(*row) for row in (yield Statement("admin/administer_jobs", parameters))]


def set_pause(kind: PauseKind, name: str, paused: bool, who: str) -> Operation[bool]:
    """Let nobody, or everybody, claim from it; False: it was so already."""
    parameters = {"kind": str(kind), "name": name, "paused": paused, "who": check_who(who)}
    return bool((yield Statement("admin/set_pause", parameters))[0][0])


def begin_operation(
    operation_id: UUID, change: Change, selection: str | Sequence[UUID], who: str, estimate: int | None
) -> Operation[BulkOperation]:
    """Put an operation on record: a filter's text, or the jobs that were selected."""
    by_filter = isinstance(selection, str)
    parameters = {
        "id": operation_id,
        "kind": str(change.kind),
        "filter": selection if by_filter else f"{len(selection)} selected jobs",
        "job_ids": None if by_filter else arrays.ids(_uuids(selection)),
        "argument": change.argument,
        "who": check_who(who),
        "estimate": estimate,
    }
    return _operation((yield Statement("admin/begin_operation", parameters))[0])


def step_operation(step: Step, *, patient: bool) -> Operation[BulkOperation | None]:
    """Do the next jobs, unless it has ended or somebody else has done them. Impatient: without those that somebody has
    locked. None: no such operation."""
    parameters = {
        "id": step.operation_id,
        "from": step.start,
        "ids": arrays.ids(step.ids),
        "to": step.end,
        "last": step.last,
        "patient": patient,
    }
    return _maybe((yield Statement("admin/step_operation", parameters)))


def cancel_operation(operation_id: UUID, who: str) -> Operation[BulkOperation | None]:
    """Let it do nothing more."""
    return _maybe((yield Statement("admin/cancel_operation", {"id": operation_id, "who": check_who(who)})))


def fail_operation(operation_id: UUID, error: str) -> Operation[BulkOperation | None]:
    """End it because it cannot go on."""
    return _maybe((yield Statement("admin/fail_operation", {"id": operation_id, "error": error})))


def get_operation(operation_id: UUID) -> Operation[BulkOperation | None]:
    """As it stands, or None."""
    return _maybe((yield Statement("admin/get_operation", {"id": operation_id})))


def list_operations(
    limit: int = 20, before: UUID | None = None, state: State | None = None
) -> Operation[list[BulkOperation]]:
    """Newest first."""
    parameters = {"limit": limit, "before": before, "state": None if state is None else str(state)}
    return [_operation(row) for row in (yield Statement("admin/list_operations", parameters))]


def list_audit(
    limit: int = 50, before: int | None = None, who: str | None = None, target: str | None = None
) -> Operation[list[AuditEntry]]:
    """Newest first."""
    parameters = {"limit": limit, "before": before, "who": who, "target": target}
    return [AuditEntry(*row) for row in (yield Statement("admin/list_audit", parameters))]


def _uuids(selection: str | Sequence[UUID]) -> list[UUID]:
    return [one for one in selection if isinstance(one, UUID)]


def _maybe(rows: list[Row]) -> BulkOperation | None:
    return _operation(rows[0]) if rows else None


def _operation(row: Row) -> BulkOperation:
    operation_id, kind, text, job_ids, argument, who, state, *rest = row
    return BulkOperation(operation_id, Kind(kind), text, job_ids, argument, who, State(state), *rest)
