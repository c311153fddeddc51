"""`howdah watch`: jobs as they run."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import click

from howdah.cli.database import database_options, opened
from howdah.cli.durations import duration
from howdah.cli.job_ids import job_id
from howdah.cli.output import json_option
from howdah.cli.watching import choose_view, follow


@click.command()
@click.argument("wanted", metavar="[ID]...", type=job_id, nargs=-1)
@database_options
@click.option("--type", "job_types", metavar="NAME", multiple=True, help="Without IDs: only jobs of these types.")
@click.option("--queue", "queues", metavar="NAME", multiple=True, help="Without IDs: only jobs of these queues.")
@click.option("--timeout", type=duration, help="No longer than this; exit 1 if they have not ended by then.")
@click.option("--plain", is_flag=True, help="Lines instead of bars, as where there is no terminal.")
@json_option("one JSON object per update")
def watch(
    wanted: tuple[UUID, ...],
    url: str | None,
    schema: str | None,
    job_types: tuple[str, ...],
    queues: tuple[str, ...],
    timeout: timedelta | None,
    plain: bool,
    as_json: bool,
) -> int:
    """Watch jobs as they run: progress, stage, events, and how they end.

    With IDs until the last of them has ended; without, whatever runs or is newly enqueued, until Ctrl-C, which ends
    the watching and not the jobs. Exit 1 if a job that was named failed, was cancelled or was deleted, 2 if there is no
    such job.
    """
    if wanted and (job_types or queues):
        raise click.UsageError("--type and --queue choose among all jobs; leave them out where IDs are given")
    seconds = None if timeout is None else timeout.total_seconds()
    with opened(url, schema) as app:
        try:
            updates = app.watch(*wanted, job_types=job_types, queues=queues, timeout=seconds)
            well = follow(updates, choose_view(as_json=as_json, plain=plain))
        except KeyboardInterrupt:
            click.echo("howdah: no longer watching; the jobs go on", err=True)
            return 130
    return 0 if well else 1
