"""`howdah enqueue`, `show`: single jobs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, cast
from uuid import UUID

import click

from howdah.cli.app_loading import load_app
from howdah.cli.arguments import enqueue_with, parse_arguments, run_time
from howdah.cli.database import database_options, opened
from howdah.cli.durations import duration
from howdah.cli.job_ids import job_id
from howdah.cli.output import json_option, json_text, plain, print_fields, print_json, print_table, printable
from howdah.cli.waiting import tell_start, wait_for_end
from howdah.client.definition import UsingOptions
from howdah.client.handle import Job
from howdah.client.opening import why_sealed
from howdah.model.job import JobEvent, JobRecord
from howdah.model.status import Status
from howdah.sealing.envelope import in_value
from howdah.sealing.keyring import Keyring

EVENTS_SHOWN = 20


@click.command()
@click.argument("app_name", metavar="APP")
@click.argument("job_type", metavar="TYPE")
@click.argument("arguments", metavar="[JSON]", default="{}")
@database_options
@click.option("--priority", type=int, help="Higher runs first.")
@click.option("--queue", metavar="NAME", help="Else that of the job type.")
@click.option("--delay", type=duration, help="Not before this much time has passed.")
@click.option("--run-at", type=run_time, metavar="ISO", help="Not before this time, such as 2030-01-31T12:00Z.")
@click.option("--max-attempts", type=int, help="How often it may be tried.")
@click.option("--wait", is_flag=True, help="Wait until it has ended; exit 1 if it failed or was cancelled.")
@click.option("--timeout", type=duration, help="With --wait: no longer than this.")
@json_option("one JSON object")
def enqueue(
    app_name: str,
    job_type: str,
    arguments: str,
    url: str | None,
    schema: str | None,
    priority: int | None,
    queue: str | None,
    delay: timedelta | None,
    run_at: datetime | None,
    max_attempts: int | None,
    wait: bool,
    timeout: timedelta | None,
    as_json: bool,
) -> int:
    """Have a worker run a job.

    Prints the job's id. JSON is an object of arguments by name, such as '{"video": 42}', or - to read it from stdin;
    it is checked against the handler before anything is written.
    """
    if timeout is not None and not wait:
        raise click.UsageError("--timeout goes with --wait")
    given = {"priority": priority, "queue": queue, "delay": delay, "run_at": run_at, "max_attempts": max_attempts}
    app = load_app(app_name, url, schema)
    try:
        options = cast(UsingOptions, {name: value for name, value in given.items() if value is not None})
        definition = app.definition(job_type).using(**options)
        job = enqueue_with(definition, parse_arguments(arguments))
        if not as_json:
            click.echo(job.id)
        if wait:
            elsewhere = url is not None or schema is not None
            wait_for_end(app, job, partial(tell_start, app_name, definition, elsewhere), timeout)
            return report_end(job, as_json)
        if as_json:
            print_json({"id": job.id, "job_type": job.job_type})
        return 0
    finally:
        app.close()


def report_end(job: Job[Any], as_json: bool) -> int:
    """Print how a job ended; 0 if it completed, else 1."""
    record = job.record
    if as_json:
        print_json({name: getattr(record, name) for name in ("id", "job_type", "status", "result", "last_error")})
    elif record.status is Status.COMPLETED:
        click.echo(json.dumps(record.result, default=str))
    else:
        lines = (record.last_error or "").strip().splitlines()
        reason = f": {printable(lines[-1])}" if lines else ""
        click.echo(f"howdah: the job ended as {record.status}{reason}", err=True)
    return 0 if record.status is Status.COMPLETED else 1


@click.command()
@click.argument("wanted", metavar="ID", type=job_id)
@database_options
@json_option("one JSON object")
def show(wanted: UUID, url: str | None, schema: str | None, as_json: bool) -> None:
    """Show everything about a job."""
    with opened(url, schema) as app:
        job = app.get(wanted)
        events = job.events(after=max(0, job.record.events_count - EVENTS_SHOWN))
    if as_json:
        print_json({**plain(job.record), "events": events})
    else:
        print_job(job.record, events, app.keyring)


def print_job(record: JobRecord, events: Sequence[JobEvent], keyring: Keyring | None = None) -> None:
    """Every field of the job, then its last events."""
    fields: list[tuple[str, object]] = []
    for name in JobRecord.__dataclass_fields__:
        value = getattr(record, name)
        sealed = why_sealed(record, name, keyring)
        fields.append((name, sealed or (json_text(value) if name in ("data", "result") else value)))
    print_fields(fields)
    if not events:
        return
    click.echo(f"\nevents, the last {len(events)} of {record.events_count}")
    rows = [(event.seq, event.at, event.attempt, event.name, shown_data(event)) for event in events[-EVENTS_SHOWN:]]
    print_table(("SEQ", "AT", "ATTEMPT", "NAME", "DATA"), rows)


def shown_data(event: JobEvent) -> str:
    """What an event carries, for people."""
    envelope = in_value(event.data)
    return json_text(event.data) if envelope is None else f"sealed with key {envelope.key!r}"
