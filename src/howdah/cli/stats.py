"""`howdah stats`: the whole queue in a few lines."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from howdah.admin import store
from howdah.admin.views import Lane, Recent, StatusCount, WorkerLine
from howdah.cli.database import database_options, opened
from howdah.cli.listing import count_line
from howdah.cli.output import json_option, plain, print_json
from howdah.db.op import Operation
from howdah.model.durations import format_duration

Seen = tuple[list[StatusCount], list[Lane], list[WorkerLine], Recent]


@click.command()
@database_options
@json_option("one JSON object")
def stats(url: str | None, schema: str | None, as_json: bool) -> None:
    """Show how many jobs there are, and how quickly they go.

    Answers quickly however many there are: counts stop at a limit and say so, and rates are estimates from the newest
    jobs, at least so much.
    """
    with opened(url, schema) as app:
        counts, lanes, workers, recent = app.sessions.run(look)
    oldest = min((lane.oldest_at for lane in lanes if lane.oldest_at is not None), default=None)
    age = None if oldest is None else max(0.0, (datetime.now(UTC) - oldest).total_seconds())
    alive = [worker for worker in workers if worker.alive]
    rates = {name: recent.per_second(getattr(recent, name)) for name in ("created", "completed", "failed", "cancelled")}
    if as_json:
        told = {count.status: {"jobs": count.jobs, "capped": count.capped} for count in counts}
        fleet = {"workers": len(alive), "held": sum(worker.jobs for worker in alive)}
        print_json({"counts": told, "oldest_waiting": age, **fleet, "per_second": rates, "last_minute": plain(recent)})
        return
    for count in counts:
        click.echo(count_line(count))
    click.echo()
    click.echo(f"oldest waiting   {'-' if oldest is None else format_duration(datetime.now(UTC) - oldest)}")
    click.echo(f"live workers     {len(alive)}, holding {sum(worker.jobs for worker in alive)} jobs")
    click.echo("about, a second  " + ", ".join(f"{rate:.3g} {name}" for name, rate in rates.items()))


def look() -> Operation[Seen]:
    """Everything that is shown."""
    counts = yield from store.count_jobs()
    lanes = yield from store.list_lanes()
    workers = yield from store.list_workers()
    return counts, lanes, workers, (yield from store.count_recent(store.LOOK_LIMIT))
