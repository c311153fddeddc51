"""`howdah worker`: run the jobs of an app until told to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

import click

from howdah.app import Howdah
from howdah.cli.app_loading import load_app
from howdah.cli.database import database_options
from howdah.cli.durations import duration
from howdah.cli.logs import LogFormat, set_up_logs
from howdah.cli.serving import serve
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
    log_format: str,
    verbose: bool,
) -> None:
    """Run the jobs of an app.

    APP is package.module:variable, seen from the current directory. Without --queue and --type it serves all that the
    app registers; both may be given more than once.

    SIGTERM or Ctrl-C: no new jobs, running ones may finish within the grace time, the rest is given back. A second
    signal: now.
    """
    set_up_logs(LogFormat(log_format), verbose)
    settings = WorkerSettings(
        concurrency=concurrency,
        queues=dict(map(parse_queue, queues)),
        job_types=job_types,
        silence=silence,
        grace=grace,
        poll=poll,
        listen=listen,
        name=name,
        maintenance=maintenance,
    )
    app = load_app(app_name, url, schema)
    check_served(app, settings)
    with asyncio.Runner(loop_factory=find_loop_factory()) as runner:
        runner.run(serve(app, settings))


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
