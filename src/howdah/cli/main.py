"""The `howdah` command: which commands there are, and the one place where a user's mistake becomes one line and exit
code 2."""

from __future__ import annotations

import io
import sys

import click

from howdah.cli.lazy_group import LazyGroup
from howdah.model.errors import HowdahError, UserError

#: Name → where the command is, and its line in `howdah --help`; a test compares the line with the command's own.
COMMANDS = {
    "audit": ("howdah.cli.audit:audit", "List who changed what, newest first."),
    "bench": ("howdah.cli.bench:bench", "Measure how fast the queue is on this server."),
    "cancel": ("howdah.cli.orders:cancel", "Cancel jobs: at once if they wait, by request if they run."),
    "completion": ("howdah.cli.completion:completion", "Print what a shell needs to complete commands."),
    "db": ("howdah.cli.db:db", "Start, stop and look at a private PostgreSQL for development."),
    "delete": ("howdah.cli.orders:delete", "Delete jobs that have ended, with their events."),
    "demo": ("howdah.cli.demo:demo", "Watch the queue at work: a dozen jobs, two workers, one of them killed."),
    "doctor": ("howdah.cli.doctor:doctor", "Examine the database, the workers and the jobs."),
    "enqueue": ("howdah.cli.jobs:enqueue", "Have a worker run a job."),
    "export": ("howdah.cli.export:export", "Print jobs as JSON, one a line, newest first."),
    "ls": ("howdah.cli.listing:ls", "List jobs, newest first."),
    "migrate": ("howdah.cli.migrate:migrate", "Create or upgrade Howdah's tables."),
    "move": ("howdah.cli.orders:move", "Move jobs that have not ended to another queue."),
    "operations": (
        "howdah.cli.operations:operations",
        "List changes to many jobs, newest first; show, cancel or resume one.",
    ),
    "pause": ("howdah.cli.queues:pause", "Stop the whole fleet from starting jobs of a queue or type."),
    "priority": ("howdah.cli.orders:priority", "Give jobs that have not ended another priority."),
    "queues": ("howdah.cli.queues:queues", "Show what waits in which queue, and who serves it."),
    "rekey": ("howdah.cli.rekey:rekey", "Seal what is stored anew, with the first key in HOWDAH_KEYS."),
    "resume": ("howdah.cli.queues:resume", "Undo a pause."),
    "retry": ("howdah.cli.orders:retry", "Run ended jobs again, or waiting ones now."),
    "roles": ("howdah.cli.roles:roles", "Create roles with least privilege, or renew their rights."),
    "show": ("howdah.cli.jobs:show", "Show everything about a job."),
    "stats": ("howdah.cli.stats:stats", "Show how many jobs there are, and how quickly they go."),
    "top": ("howdah.cli.top:top", "Watch queues, workers, running jobs and failures, live."),
    "up": ("howdah.cli.up:up", "Run everything for development: database, tables, worker, dashboard."),
    "ui": ("howdah.cli.ui:ui", "Watch the queue in a browser."),
    "watch": ("howdah.cli.watch:watch", "Watch jobs as they run: progress, stage, events, and how they end."),
    "why": ("howdah.cli.why:why", "Say why a job is not running."),
    "worker": ("howdah.cli.worker:worker", "Run the jobs of an app."),
    "workers": ("howdah.cli.queues:workers", "Show the workers and what they serve."),
}


@click.group(
    cls=LazyGroup,
    places=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
)
@click.version_option(package_name="howdah")
@click.pass_context
def main(context: click.Context) -> None:
    """Howdah: a job queue that rides on PostgreSQL."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def run() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A job's text may hold what this terminal cannot show; that is no reason to fail.
            stream.reconfigure(errors="backslashreplace")
    sys.exit(exit_code())


def exit_code() -> int:
    """Run the command and say how it ended: 0 done, 1 done but with a bad answer, 2 a mistake of the user's."""
    try:
        answer = main(standalone_mode=False)
        return answer if isinstance(answer, int) else 0
    except click.UsageError as error:
        if "\n" in error.format_message():
            # A bare group, `howdah db`: its help is no mistake, and needs its lines.
            error.show()
            return 2
        where = f" (see `{error.ctx.command_path} --help`)" if error.ctx is not None else ""
        return say(f"{error.format_message().rstrip('.')}{where}", 2)
    except click.ClickException as error:
        return say(error.format_message(), 2)
    except UserError as error:
        return say(str(error), 2)
    except HowdahError as error:
        return say(str(error), 1)
    except (click.Abort, KeyboardInterrupt):
        # What a shell expects of a command that was interrupted.
        return 130


def say(message: str, code: int) -> int:
    """One line on stderr, whatever the message holds: it may quote what the user typed."""
    line = " ".join(message.split())
    click.echo("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in f"howdah: {line}"), err=True)
    return code
