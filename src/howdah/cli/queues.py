"""`howdah pause`, `resume`, `queues`, `workers`: what the fleet serves."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

import click

from howdah.admin import store
from howdah.admin.order_store import set_pause
from howdah.admin.orders import local_who
from howdah.admin.views import Lane, PauseKind, WorkerLine
from howdah.cli.database import database_options, opened
from howdah.cli.output import json_option, print_json, print_table, printable
from howdah.model.durations import format_duration
from howdah.model.options import check_name


@click.command()
@click.argument("queue_names", metavar="[QUEUE]...", nargs=-1)
@click.option("--type", "job_types", multiple=True, metavar="NAME", help="Pause this job type, in every queue.")
@database_options
@json_option("one JSON object per line")
def pause(
    queue_names: tuple[str, ...], job_types: tuple[str, ...], url: str | None, schema: str | None, as_json: bool
) -> None:
    """Stop the whole fleet from starting jobs of a queue or type.

    Lasts until `howdah resume`. Jobs that run already go on.
    """
    order(True, named(queue_names, job_types), (url, schema), ("paused", "was paused already"), as_json)


@click.command()
@click.argument("queue_names", metavar="[QUEUE]...", nargs=-1)
@click.option("--type", "job_types", multiple=True, metavar="NAME", help="Resume this job type.")
@database_options
@json_option("one JSON object per line")
def resume(
    queue_names: tuple[str, ...], job_types: tuple[str, ...], url: str | None, schema: str | None, as_json: bool
) -> None:
    """Undo a pause."""
    order(False, named(queue_names, job_types), (url, schema), ("resumed", "was not paused"), as_json)


def named(queue_names: Sequence[str], job_types: Sequence[str]) -> list[tuple[PauseKind, str]]:
    """What the user named, checked; at least one thing."""
    queues_named = [(PauseKind.QUEUE, check_name("queue", name)) for name in queue_names]
    types_named = [(PauseKind.TYPE, check_name("job type", name)) for name in job_types]
    if not queues_named and not types_named:
        raise click.UsageError("name a queue, or a job type with --type")
    return queues_named + types_named


def order(
    paused: bool,
    things: Sequence[tuple[PauseKind, str]],
    place: tuple[str | None, str | None],
    words: tuple[str, str],
    as_json: bool,
) -> None:
    """Pause or resume each, and say whether that changed anything."""
    with opened(*place) as app:
        for kind, name in things:
            changed = app.sessions.run(partial(set_pause, kind, name, paused, local_who()))
            if as_json:
                print_json({"kind": kind, "name": name, "paused": paused, "changed": changed})
            else:
                click.echo(f"{kind} {printable(name)}  {words[0] if changed else words[1]}")
            if paused and not app.sessions.run(partial(store.is_known, kind, name)):
                click.echo(f"howdah: no job or worker knows a {kind} {name!r} so far", err=True)


@click.command()
@database_options
@json_option("one JSON object per line")
def queues(url: str | None, schema: str | None, as_json: bool) -> None:
    """Show what waits in which queue, and who serves it."""
    with opened(url, schema) as app:
        lanes = app.sessions.run(store.list_lanes)
    if as_json:
        for lane in lanes:
            print_json(lane)
        return
    if not lanes:
        click.echo("no queues", err=True)
        return
    now = datetime.now(UTC)
    rows = [
        (
            lane.queue,
            lane.job_type,
            f"{lane.ready}{'+' if lane.ready_capped else ''}",
            f"{lane.scheduled}{'+' if lane.scheduled_capped else ''}",
            None if lane.oldest_at is None else format_duration(now - lane.oldest_at),
            lane.live_workers,
            lane_note(lane),
        )
        for lane in lanes
    ]
    print_table(("QUEUE", "TYPE", "READY", "SCHEDULED", "OLDEST", "WORKERS", "NOTE"), rows)


def lane_note(lane: Lane) -> str | None:
    """Why nothing may start here, if so."""
    if lane.queue_paused:
        return "queue is paused"
    if lane.type_paused:
        return "type is paused"
    if not lane.live_workers and (lane.ready or lane.scheduled):
        return "no live worker serves this type in this queue"
    return None


@click.command()
@database_options
@json_option("one JSON object per line")
def workers(url: str | None, schema: str | None, as_json: bool) -> None:
    """Show the workers and what they serve."""
    with opened(url, schema) as app:
        found = app.sessions.run(store.list_workers)
    if as_json:
        for worker in found:
            print_json(worker)
        return
    if not found:
        click.echo("no workers", err=True)
        return
    now = datetime.now(UTC)
    print_table(("ID", "STATE", "UP", "LAST BEAT", "JOBS", "QUEUES", "TYPES"), [worker_row(w, now) for w in found])


def worker_row(worker: WorkerLine, now: datetime) -> tuple[object, ...]:
    """A worker as a line of the table."""
    return (
        worker.id,
        "alive" if worker.alive else "silent",
        format_duration(now - worker.started_at),
        f"{format_duration(now - worker.heartbeat_at)} ago",
        worker.jobs,
        ",".join(worker.queues),
        ",".join(worker.job_types),
    )
