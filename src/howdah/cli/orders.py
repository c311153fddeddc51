"""`howdah cancel`, `retry`, `delete`, `priority`, `move`: orders for jobs, by their ids or by a filter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import click

from howdah.admin.filters import JobFilter
from howdah.admin.orders import Change, Kind
from howdah.cli.bulk import order_all
from howdah.cli.database import database_options
from howdah.cli.filtering import filter_options, must_select
from howdah.cli.job_ids import job_id
from howdah.cli.named_jobs import Said, order_each
from howdah.cli.output import json_option

Command = Callable[..., Any]
_BUSY = "is {}: cancel it first, or wait until it has ended"
_WAITS = "is {}: it has not ended"
CANCEL: Said = {
    "cancelled": ("cancelled", 0),
    "requested": ("asked its worker to stop", 0),
    "completed": ("had completed already", 1),
    "failed": ("had failed already", 1),
}
RETRY: Said = {
    "pending": ("runs again", 0),
    "claimed": (_BUSY.format("claimed"), 2),
    "running": (_BUSY.format("running"), 2),
}
DELETE: Said = {
    "deleted": ("deleted", 0),
    **{status: (f"{_WAITS.format(status)}; cancel it first", 2) for status in ("pending", "claimed", "running")},
}


def order_options(command: Command) -> Command:
    """Jobs by id or by filter, and how to go about it."""
    for option in (
        json_option("one JSON object per line"),
        click.option("--yes", is_flag=True, help="With a filter: do not ask."),
        click.option("--dry-run", is_flag=True, help="With a filter: only say how many jobs it would change."),
        filter_options,
        database_options,
        click.argument("named", metavar="[ID]...", type=job_id, nargs=-1),
    ):
        command = option(command)
    return command


@click.command()
@order_options
def cancel(named: tuple[UUID, ...], **given: Any) -> int:
    """Cancel jobs: at once if they wait, by request if they run.

    Exit 1 if one of them had ended already, 2 if there is no such job.
    """
    return give_order(Change(Kind.CANCEL), named, CANCEL, **given)


@click.command()
@order_options
def retry(named: tuple[UUID, ...], **given: Any) -> int:
    """Run ended jobs again, or waiting ones now.

    Exit 2 if a worker holds one of them, or if there is no such job.
    """
    return give_order(Change(Kind.RETRY), named, RETRY, **given)


@click.command()
@order_options
def delete(named: tuple[UUID, ...], **given: Any) -> int:
    """Delete jobs that have ended, with their events.

    Exit 2 if one of them has not ended, or if there is no such job.
    """
    return give_order(Change(Kind.DELETE), named, DELETE, **given)


@click.command()
@click.argument("number", metavar="N", type=int)
@order_options
def priority(number: int, named: tuple[UUID, ...], **given: Any) -> int:
    """Give jobs that have not ended another priority.

    Higher runs first. Exit 1 if one of them had ended already, 2 if there is no such job. Write a negative one after
    `--`.
    """
    change = Change(Kind.PRIORITY, number)
    return give_order(change, named, unended(f"has priority {number}"), **given)


@click.command()
@click.argument("name", metavar="QUEUE")
@order_options
def move(name: str, named: tuple[UUID, ...], **given: Any) -> int:
    """Move jobs that have not ended to another queue.

    Exit 1 if one of them had ended already, 2 if there is no such job.
    """
    change = Change(Kind.QUEUE, name)
    return give_order(change, named, unended(f"is in queue {name}"), **given)


def unended(words: str) -> Said:
    """What is said of jobs that had to be waiting or running."""
    ended = {status: (f"had ended already, as {status}", 1) for status in ("completed", "failed", "cancelled")}
    return {**dict.fromkeys(("pending", "claimed", "running"), (words, 0)), **ended}


def give_order(
    change: Change,
    named: Sequence[UUID],
    said: Said,
    *,
    url: str | None,
    schema: str | None,
    wanted: JobFilter,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """By id or by filter, but not by both."""
    if not named:
        return order_all(change, must_select(wanted), (url, schema), dry_run=dry_run, yes=yes, as_json=as_json)
    if wanted.selects:
        raise click.UsageError("name jobs by their ids or choose them with --where, not both")
    if dry_run:
        raise click.UsageError("--dry-run goes with --where")
    return order_each(change, named, said, (url, schema), as_json)
