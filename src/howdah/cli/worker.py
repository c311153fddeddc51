"""`howdah worker`: run the jobs of an app until told to stop."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import click

from howdah.app import Howdah
from howdah.cli.app_loading import load_app
from howdah.cli.database import database_options
from howdah.cli.durations import duration
from howdah.cli.health import HealthPort, health_options
from howdah.cli.leash import Leash
from howdah.cli.logs import LogFormat, set_up_logs
from howdah.cli.readiness import Readiness
from howdah.cli.serving import serve
from howdah.cli.supervised import Command
from howdah.cli.supervisor import MOST_PROCESSES, Supervisor
from howdah.model.errors import OptionError
from howdah.model.worker_settings import WorkerSettings

DEFAULTS = WorkerSettings()


@click.command()
@click.argument("app_name", metavar="APP")
@database_options
@click.option("--queue", "queues", multiple=True, metavar="NAME[=N]", help="Serve this queue, N jobs of it at once.")
@click.option("--type", "job_types", multiple=True, metavar="NAME", help="Serve this job type.")
@click.option("--concurrency", type=int, default=DEFAULTS.concurrency, show_default=True, help="Jobs at once.")
@click.option("--silence", type=duration, default="30s", show_default=True, help="Counts as dead after this long.")
@click.option("--grace", type=duration, default="30s", show_default=True, help="Time to finish after SIGTERM.")
@click.option("--poll", type=duration, default="900ms", show_default=True, help="How often to look for work unasked.")
@click.option("--listen/--no-listen", default=True, help="Be woken by NOTIFY.  [default: listen]")
@click.option("--maintenance/--no-maintenance", default=True, help="Do the chores too.  [default: maintenance]")
@click.option("--name", metavar="NAME", help="A name for people; its id is this and a part of its own.")
@click.option(
    "--processes", default="1", metavar="N|auto", show_default=True, help="Worker processes; auto: one a core."
)
@click.option(
    "--ready-file", type=click.Path(path_type=Path), metavar="PATH", help="Is there while jobs can be claimed."
)
@health_options
@click.option("--log-format", type=click.Choice(["console", "json"]), default="console", show_default=True)
@click.option("-v", "--verbose", is_flag=True, help="Log what is only of interest when looking for a fault.")
def worker(
    app_name: str,
    url: str | None,
    schema: str | None,
    queues: tuple[str, ...],
    job_types: tuple[str, ...],
    concurrency: int,
    silence: timedelta,
    grace: timedelta,
    poll: timedelta,
    listen: bool,
    maintenance: bool,
    name: str | None,
    processes: str,
    ready_file: Path | None,
    health_port: HealthPort | None,
    log_format: str,
    verbose: bool,
) -> int:
    """Run the jobs of an app.

    APP is package.module:variable, seen from the current directory. Without --queue and --type it serves all that the
    app registers; both may be given more than once.

    SIGTERM or Ctrl-C: no new jobs, running ones may finish within the grace time, the rest is given back. A second
    signal: now. With --processes, SIGHUP: fresh processes take over, one after another.
    """
    command, leash = Command.of_this_process(), Leash.of_this_process()
    number = leash.number if leash else None
    in_child = partial(set_up_logs, LogFormat(log_format), verbose, number)
    in_child()
    count = parse_processes(processes)
    settings = WorkerSettings(
        concurrency=concurrency,
        queues=dict(map(parse_queue, queues)),
        job_types=job_types,
        silence=silence,
        grace=grace,
        poll=poll,
        listen=listen,
        name=numbered(name, number if leash or count == 1 else count),
        maintenance=maintenance,
        in_child=in_child,
    )
    reports = leash or Readiness.of_this_process(ready_file)
    app = load_app(app_name, url, schema)
    check_served(app, settings)
    if isinstance(reports, Leash) or count == 1:
        return run(serve(app, settings, reports, health_port))
    return asyncio.run(Supervisor(app, command, count, reports, health_port).run())


def run(serving: Coroutine[Any, Any, None]) -> int:
    """Run a worker on the quickest event loop there is."""
    with asyncio.Runner(loop_factory=find_loop_factory()) as runner:
        runner.run(serving)
    for number in (signal.SIGTERM, signal.SIGINT):
        # The work is done: should something keep the interpreter from ending, a thread of the app's perhaps, a signal
        # ends it. uvloop leaves a handler behind that does nothing.
        signal.signal(number, signal.SIG_DFL)
    return 0


def parse_processes(text: str) -> int:
    """`4`, or `auto`: as many as this process may use cores."""
    if text == "auto":
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not text.isdecimal() or not 1 <= int(text) <= MOST_PROCESSES:
        raise OptionError(f"--processes {text!r}: write a number from 1 to {MOST_PROCESSES}, or auto")
    return int(text)


def numbered(name: str | None, number: int | None) -> str | None:
    """`web-1.3` for the third of several workers; a worker without a name has its process in its id."""
    return name if name is None or number is None else f"{name}.{number}"


def parse_queue(text: str) -> tuple[str, int | None]:
    """`emails=20` as a queue and its own concurrency; `emails` shares the worker's."""
    name, equals, number = text.rpartition("=")
    if not equals:
        return text, None
    try:
        return name, int(number)
    except ValueError:
        raise OptionError(f"--queue {text!r}: {number!r} is no number; write --queue emails=20") from None


def check_served(app: Howdah, settings: WorkerSettings) -> None:
    """Tell at once what no database could put right."""
    if not app.handlers:
        raise OptionError("this app registers no job types; decorate functions with @app.job()")
    for job_type in settings.job_types:
        app.definition(job_type)


def find_loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's event loop where it is installed, else Python's own."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
