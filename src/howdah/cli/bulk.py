"""An order for all jobs of a filter: previewed, asked about, carried out here with its progress on stderr."""

from __future__ import annotations

import sys
from datetime import timedelta
from functools import partial
from uuid import UUID

import click

from howdah.admin import bulk
from howdah.admin.bulk import Preview
from howdah.admin.filters import JobFilter
from howdah.admin.listing import Budget
from howdah.admin.orders import BulkOperation, Change, Kind, State, local_who
from howdah.app import Howdah
from howdah.cli.database import opened
from howdah.cli.output import plain, print_json, printable

#: A person waits for the count; a dashboard has less patience.
_PREVIEW = Budget(look=2_000_000, seconds=2.0)
_LIMIT = timedelta(seconds=30)


def order_all(
    change: Change, wanted: JobFilter, place: tuple[str | None, str | None], *, dry_run: bool, yes: bool, as_json: bool
) -> int:
    """Exit code 0: done, or nothing to do; 1: it ended otherwise."""
    with opened(*place) as app:
        seen = app.sessions.run(partial(bulk.preview, change, wanted, _PREVIEW), limit=_LIMIT)
        if dry_run or (seen.count.exact and not seen.count.jobs):
            _print_preview(seen, as_json)
            return 0
        if not yes:
            _ask(seen)
        count = seen.count
        order = bulk.BulkOrder(change, wanted, local_who(), count.jobs if count.exact else count.estimate)
        operation = app.sessions.run(partial(bulk.begin, order))
        return carry_out(app, operation.id, as_json)


def carry_out(app: Howdah, operation_id: UUID, as_json: bool) -> int:
    """Carry out an operation, or go on with one, and say how it ended."""
    try:
        ended = bulk.carry_out(app.sessions, operation_id, _tell if sys.stderr.isatty() else None)
    except KeyboardInterrupt:
        click.echo(
            f"\nhowdah: interrupted; `howdah operations resume {operation_id}` goes on,"
            f" `howdah operations cancel {operation_id}` ends it",
            err=True,
        )
        raise
    if sys.stderr.isatty():
        click.echo(err=True)
    if as_json:
        print_json(shown(ended))
    else:
        click.echo(summary(ended))
    return 0 if ended.state is State.DONE else 1


def shown(operation: BulkOperation) -> dict[str, object]:
    """An operation as JSON: without the ids of a selection, which may be thousands."""
    fields: dict[str, object] = {**plain(operation), "percent": operation.percent}
    fields.pop("job_ids")
    return fields


def summary(operation: BulkOperation) -> str:
    """How it stands, in a line."""
    skipped = f", {operation.skipped:,} left as they were" if operation.skipped else ""
    ended = "" if operation.state is State.DONE else f" ({operation.state}{_because(operation)})"
    return f"{describe(operation.kind, operation.argument)}: {jobs(f'{operation.done:,}')}{skipped}{ended}"


def describe(kind: str, argument: str | None) -> str:
    """What is done, in words."""
    verb = {Kind.RUN_NOW: "run now", Kind.QUEUE: "move to queue"}.get(Kind(kind), str(kind))
    return verb if argument is None else f"{verb} {printable(argument)}"


def described(seen: Preview) -> str:
    """What would be done, and to how many."""
    return f"{describe(seen.change.kind, seen.change.argument)}: {jobs(seen.count.words)}"


def jobs(number: str) -> str:
    """So many jobs."""
    return "1 job" if number == "1" else f"{number} jobs"


def _because(operation: BulkOperation) -> str:
    return f": {printable(operation.error)}" if operation.error else ""


def _print_preview(seen: Preview, as_json: bool) -> None:
    if as_json:
        change = {"kind": seen.change.kind, "argument": seen.change.argument, "filter": seen.filter}
        print_json({**change, **plain(seen.count)})
    else:
        click.echo(f"{described(seen)}; nothing was changed")


def _ask(seen: Preview) -> None:
    question = f"{described(seen)} of {printable(seen.filter)}"
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question}: say --yes to do it, or --dry-run to see how many")
    click.confirm(question, abort=True, err=True)


def _tell(operation: BulkOperation) -> None:
    percent = "" if operation.percent is None else f", {operation.percent}%"
    click.echo(f"\r{operation.done:,} done, {operation.skipped:,} left as they were{percent}", nl=False, err=True)
