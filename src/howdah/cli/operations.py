"""`howdah operations`: changes to many jobs, how far they have come, and what to do about them."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from uuid import UUID

import click

from howdah.admin import bulk, order_store
from howdah.admin.orders import BulkOperation, State, local_who
from howdah.cli.bulk import carry_out, describe, shown, summary
from howdah.cli.database import database_options, opened
from howdah.cli.fitting import Fit
from howdah.cli.output import json_option, print_fields, print_json, print_table
from howdah.cli.suggesting_group import SuggestingGroup
from howdah.model.durations import format_duration

_HEADS = ("ID", "WHAT", "STATE", "DONE", "LEFT AS IS", "OF ABOUT", "BEGAN", "WHO", "FILTER")
_FIT = Fit(shorten=(("FILTER", 12), ("WHO", 8)), leave_out=("WHO", "BEGAN", "LEFT AS IS"))


def operation_id(value: str | UUID) -> UUID:
    """The type of an argument that is an operation's id."""
    try:
        return value if isinstance(value, UUID) else UUID(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not the id of an operation; `howdah operations` lists them") from None


@click.group(cls=SuggestingGroup, invoke_without_command=True)
@database_options
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="At most this many.")
@click.option("--before", type=operation_id, metavar="ID", help="Only operations older than this one: the next page.")
@click.option("--state", type=click.Choice([str(state) for state in State]), help="Only those.")
@json_option("one JSON object per line")
@click.pass_context
def operations(
    context: click.Context,
    url: str | None,
    schema: str | None,
    limit: int,
    before: UUID | None,
    state: str | None,
    as_json: bool,
) -> None:
    """List changes to many jobs, newest first; show, cancel or resume one."""
    if context.invoked_subcommand is not None:
        return
    wanted = None if state is None else State(state)
    with opened(url, schema) as app:
        found = app.sessions.run(partial(order_store.list_operations, limit, before, wanted))
    if as_json:
        for operation in found:
            print_json(shown(operation))
    elif found:
        now = datetime.now(UTC)
        print_table(_HEADS, [row(operation, now) for operation in found], _FIT)
    else:
        click.echo("no operations", err=True)


def row(operation: BulkOperation, now: datetime) -> tuple[object, ...]:
    """An operation as a line of the table."""
    return (
        operation.id,
        describe(operation.kind, operation.argument),
        operation.state,
        operation.done,
        operation.skipped,
        operation.estimate,
        f"{format_duration(now - operation.started_at)} ago",
        operation.who,
        operation.filter,
    )


@operations.command()
@click.argument("wanted", metavar="ID", type=operation_id)
@database_options
@json_option("one JSON object")
def show(wanted: UUID, url: str | None, schema: str | None, as_json: bool) -> None:
    """Show everything about an operation."""
    with opened(url, schema) as app:
        found = shown(app.sessions.run(partial(bulk.get, wanted)))
    if as_json:
        print_json(found)
    else:
        print_fields(list(found.items()))


@operations.command()
@click.argument("wanted", metavar="ID", type=operation_id)
@database_options
@json_option("one JSON object")
def cancel(wanted: UUID, url: str | None, schema: str | None, as_json: bool) -> int:
    """End an operation; what was done stays done.

    Exit 1 if it had ended already.
    """
    with opened(url, schema) as app:
        ended = app.sessions.run(partial(bulk.cancel, wanted, local_who()))
    if as_json:
        print_json(shown(ended))
    else:
        click.echo(summary(ended))
    return 0 if ended.state is State.CANCELLED else 1


@operations.command()
@click.argument("wanted", metavar="ID", type=operation_id)
@database_options
@json_option("one JSON object")
def resume(wanted: UUID, url: str | None, schema: str | None, as_json: bool) -> int:
    """Go on with an operation whose process has ended.

    Exit 1 if it ended as cancelled or failed.
    """
    with opened(url, schema) as app:
        return carry_out(app, wanted, as_json)
