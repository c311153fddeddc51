"""`howdah bench`: how fast this queue is, on this server."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path
from types import FrameType

import click

from howdah.bench import store
from howdah.bench.machine import describe, is_durable
from howdah.bench.outcome import BenchFailed, Outcome
from howdah.bench.plot import plot
from howdah.bench.programme import SCENARIOS, TOUR
from howdah.bench.settings import PINS, BenchSettings
from howdah.bench.stage import SCHEMA, Stage, staged
from howdah.bench.wording import rows_of
from howdah.cli.database import opened
from howdah.cli.figures import print_figures
from howdah.cli.output import json_option, print_json


@click.command()
@click.argument("names", metavar="[SCENARIO]...", nargs=-1)
@click.option("--url", metavar="URL", help="The database; else HOWDAH_URL, else the embedded PostgreSQL.")
@click.option("--schema", default=SCHEMA, show_default=True, help="A schema to make, use and remove.")
@click.option("--jobs", type=int, help="How many jobs.  [default: the scenario's own]")
@click.option("--seconds", type=float, help="For how long.  [default: the scenario's own]")
@click.option("--rounds", type=int, default=3, show_default=True, help="How often; medians and spread are printed.")
@click.option("--payload", type=int, default=100, show_default=True, help="Bytes of a job's arguments.")
@click.option("--concurrency", type=int, default=100, show_default=True, help="Jobs at once in a worker.")
@click.option("--batch", type=int, default=1000, show_default=True, help="Jobs in one enqueue_many of a producer.")
@click.option("--rate", type=int, default=100, show_default=True, help="latency: jobs a second.")
@click.option("--pin", type=click.Choice([*PINS, "all"]), default="all", show_default=True, help="pinned: held how.")
@click.option("--pending", type=int, help="deep, types: jobs that wait.  [default: 5,000,000; 1,000,000]")
@click.option("--finished", type=int, help="deep: jobs that have ended.  [default: 20,000,000]")
@click.option("--scheduled", type=int, help="deep: jobs for later.  [default: 1,000,000]")
@click.option("--workers", type=int, help="idle: how many.  [default: 50]")
@click.option("--reporters", type=int, help="progress: jobs that report.  [default: 1,000]")
@click.option("--plot", "plot_file", type=click.Path(dir_okay=False, path_type=Path), help="Throughput over time, SVG.")
@click.option("--keep", is_flag=True, help="Leave the schema for a look; the next bench removes it.")
@json_option("one JSON object with everything")
def bench(
    names: tuple[str, ...],
    url: str | None,
    schema: str,
    plot_file: Path | None,
    keep: bool,
    as_json: bool,
    pin: str,
    jobs: int | None,
    seconds: float | None,
    rounds: int,
    payload: int,
    concurrency: int,
    batch: int,
    rate: int,
    pending: int | None,
    finished: int | None,
    scheduled: int | None,
    workers: int | None,
    reporters: int | None,
) -> int:
    """Measure how fast the queue is on this server.

    Works in a schema of its own, with real worker processes, and checks that every job ran exactly once. Without a
    SCENARIO: a tour that takes under two minutes.
    """
    settings = BenchSettings(
        jobs=jobs,
        seconds=seconds,
        rounds=rounds,
        payload=payload,
        concurrency=concurrency,
        batch=batch,
        rate=rate,
        pins=PINS if pin == "all" else (pin,),
        pending=pending,
        finished=finished,
        scheduled=scheduled,
        workers=workers,
        reporters=reporters,
    )
    chosen = check_names(names) or TOUR
    signal.signal(signal.SIGTERM, _leave)
    with opened(url, None, create=True) as app, staged(app.locate(), schema, settings, _say, keep=keep) as stage:
        about = describe_place(stage)
        outcomes = [run_scenario(stage, name, quiet=as_json) for name in chosen]
    if plot_file is not None:
        plot_file.write_text(plot(outcomes))
        _say(f"{plot_file} shows throughput over time")
    if as_json:
        print_json({"settings": settings, **about, "scenarios": [outcome.as_json() for outcome in outcomes]})
    return 1 if any(outcome.troubles for outcome in outcomes) else 0


def describe_place(stage: Stage) -> dict[str, object]:
    """On what it is measured; says so if that is no fair ground."""
    server = stage.run(store.read_server())
    if not is_durable(server):
        _say("this server does not wait for the disk: its figures are not those of a durable one")
    return describe(server)


def run_scenario(stage: Stage, name: str, *, quiet: bool) -> Outcome:
    """Run one and print what it found."""
    began = time.monotonic()
    try:
        outcome = SCENARIOS[name](stage)
    except BenchFailed as failure:
        outcome = Outcome(name, {}, troubles=[str(failure)])
    stage.say(f"{name}: took {time.monotonic() - began:.0f} s")
    if not quiet and outcome.rounds:
        print_figures((name.upper(), "MEDIAN", "SPREAD"), rows_of(outcome))
        for remark in outcome.remarks:
            click.echo(f"  {remark}")
        click.echo()
    for trouble in outcome.troubles:
        click.echo(f"howdah: {name}: WRONG: {trouble}", err=True)
    return outcome


def check_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a scenario that is not there, naming those that are."""
    for name in names:
        if name not in SCENARIOS:
            raise click.UsageError(f"there is no scenario {name!r}; there are: {', '.join(SCENARIOS)}")
    return tuple(dict.fromkeys(names))


def _say(text: str) -> None:
    click.echo(f"howdah bench: {text}", err=True)


def _leave(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)
