"""`howdah bench`: how fast this queue is, on this server."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click

from howdah.bench import store
from howdah.bench.goals import FULL, judge, settings_for
from howdah.bench.machine import describe, is_durable
from howdah.bench.outcome import BenchFailed, Outcome
from howdah.bench.own_server import own_server
from howdah.bench.plot import plot
from howdah.bench.programme import SCENARIOS, TOUR
from howdah.bench.settings import PINS, TOGETHER, BenchSettings
from howdah.bench.stage import SCHEMA, Stage, staged
from howdah.bench.wording import rows_of
from howdah.cli.database import opened
from howdah.cli.figures import print_figures
from howdah.cli.output import json_option, print_json
from howdah.model.errors import OptionError


@click.command()
@click.argument("names", metavar="[SCENARIO]...", nargs=-1)
@click.option("--url", metavar="URL", help="The database; else HOWDAH_URL, else the embedded PostgreSQL.")
@click.option("--schema", default=SCHEMA, show_default=True, help="A schema to make, use and remove.")
@click.option("--jobs", type=int, help="How many jobs.  [default: the scenario's own]")
@click.option("--seconds", type=float, help="For how long.  [default: the scenario's own]")
@click.option("--rounds", type=int, help="How often; medians and spread are printed.  [default: 3]")
@click.option("--payload", type=int, default=100, show_default=True, help="Bytes of a job's arguments.")
@click.option("--concurrency", type=int, default=100, show_default=True, help="Jobs at once in a worker.")
@click.option("--batch", type=int, default=1000, show_default=True, help="Jobs in one enqueue_many of a producer.")
@click.option("--rate", type=int, default=100, show_default=True, help="latency: jobs a second.")
@click.option(
    "--pin", type=click.Choice([*PINS, TOGETHER, "all"]), default="all", show_default=True, help="pinned: held how."
)
@click.option("--pending", type=int, help="deep, types: jobs that wait.  [default: 5,000,000; 1,000,000]")
@click.option("--finished", type=int, help="deep: jobs that have ended.  [default: 20,000,000]")
@click.option("--scheduled", type=int, help="deep: jobs for later.  [default: 1,000,000]")
@click.option("--workers", type=int, help="idle: how many.  [default: 50]")
@click.option("--reporters", type=int, help="progress: jobs that report.  [default: 1,000]")
@click.option("--plot", "plot_file", type=click.Path(dir_okay=False, path_type=Path), help="Throughput over time, SVG.")
@click.option("--private", is_flag=True, help="On a PostgreSQL of its own, started and removed for this.")
@click.option("--goals", is_flag=True, help="All scenarios at the sizes of the stated goals, and whether they are met.")
@click.option("--quick", is_flag=True, help="With --goals: reduced sizes, a few minutes.")
@click.option("--keep", is_flag=True, help="Leave the schema for a look; the next bench removes it.")
@json_option("one JSON object with everything")
def bench(
    names: tuple[str, ...],
    url: str | None,
    schema: str,
    pin: str,
    rounds: int | None,
    plot_file: Path | None,
    private: bool,
    goals: bool,
    quick: bool,
    keep: bool,
    as_json: bool,
    **sizes: Any,
) -> int:
    """Measure how fast the queue is on this server.

    Works in a schema of its own, with real worker processes, and checks that every job ran exactly once. Without a
    SCENARIO: a tour that takes some minutes.
    """
    pins = PINS if pin == "all" else (pin,)
    settings = BenchSettings(rounds=3 if rounds is None else rounds, pins=pins, **sizes)
    if quick and not goals:
        raise click.UsageError("--quick goes with --goals")
    if private and url is not None:
        raise click.UsageError("--private takes no --url: the server is its own")
    chosen = check_names(names) or (tuple(FULL) if goals else TOUR)
    plan = [(name, settings_for(name, settings, quick=quick, rounds=rounds) if goals else settings) for name in chosen]
    signal.signal(signal.SIGTERM, _leave)
    with place(url, private=private) as where, staged(where, schema, settings, _say, keep=keep) as stage:
        about = describe_place(stage)
        outcomes = [run_scenario(stage, name, own, quiet=as_json, lenient=goals) for name, own in plan]
    verdicts = judge(outcomes) if goals else []
    if plot_file is not None:
        plot_file.write_text(plot(outcomes))
        _say(f"{plot_file} shows throughput over time")
    if as_json:
        judged = {"goals": [verdict.as_json() for verdict in verdicts]} if goals else {}
        print_json({"settings": settings, **about, "scenarios": [one.as_json() for one in outcomes], **judged})
    elif goals:
        print_figures(("GOAL", "LIMIT", "FIGURE", ""), [verdict.row() for verdict in verdicts])
    return 1 if any(outcome.troubles for outcome in outcomes) else 0


@contextmanager
def place(url: str | None, *, private: bool) -> Iterator[str]:
    """The URL of the server to measure on."""
    if private:
        with own_server() as found:
            yield found
    else:
        with opened(url, None, create=True) as app:
            yield app.locate()


def describe_place(stage: Stage) -> dict[str, object]:
    """On what it is measured; says so if that is no fair ground."""
    server = stage.run(store.read_server())
    if not is_durable(server):
        _say("this server does not wait for the disk: its figures are not those of a durable one")
    return describe(server)


def run_scenario(stage: Stage, name: str, settings: BenchSettings, *, quiet: bool, lenient: bool) -> Outcome:
    """Run one and print what it found. `lenient`: what cannot be had on this server is told, and the others go on."""
    began = time.monotonic()
    stage.settings = settings
    try:
        outcome = SCENARIOS[name](stage)
    except BenchFailed as failure:
        outcome = Outcome(name, {}, troubles=[str(failure)])
    except OptionError as refusal:
        if not lenient:
            raise
        stage.say(f"{name}: not measured: {refusal}")
        outcome = Outcome(name, {}, remarks=[f"not measured: {refusal}"])
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
