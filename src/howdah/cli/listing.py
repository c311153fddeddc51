"""`howdah ls`: which jobs there are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import click

from howdah.admin import store
from howdah.admin.filters import JobFilter
from howdah.admin.listing import Budget, list_jobs
from howdah.admin.views import JobLine, Page, Pause, PauseKind, StatusCount
from howdah.app import Howdah
from howdah.cli.database import database_options, opened
from howdah.cli.filtering import filter_options
from howdah.cli.fitting import Fit
from howdah.cli.job_ids import job_id
from howdah.cli.output import json_option, plain, print_json, print_table
from howdah.db.op import Operation
from howdah.model.durations import format_duration
from howdah.model.status import Status
from howdah.sealing.keyring import KEY_MISSING

NO_LIVE_WORKER = "no live worker knows this type"
NO_WORKER = "no worker is running"
#: A person waits longer than a page does.
PATIENCE = Budget(look=1_000_000, seconds=0.5)
_HEADS = ("ID", "TYPE", "STATUS", "QUEUE", "PRIORITY", "PROGRESS", "ATTEMPTS", "AGE", "NOTE")
_FIT = Fit(shorten=(("NOTE", 12), ("TYPE", 8)), leave_out=("PRIORITY", "ATTEMPTS", "QUEUE", "PROGRESS"))


@click.command()
@database_options
@filter_options
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="At most this many.")
@click.option("--before", type=job_id, metavar="ID", help="Only jobs older than this one: the next page.")
@click.option("--counts", is_flag=True, help="Only how many jobs have which status.")
@json_option("one JSON object per line")
def ls(
    url: str | None,
    schema: str | None,
    wanted: JobFilter,
    limit: int,
    before: UUID | None,
    counts: bool,
    as_json: bool,
) -> None:
    """List jobs, newest first.

    Answers quickly however many jobs there are: a filter looks at some of the newest only, and says so.
    """
    if counts and (wanted.selects or before is not None):
        raise click.UsageError("--counts takes no filter")
    with opened(url, schema) as app:
        if counts:
            _print_counts(app, as_json)
            return
        page, circumstances = app.sessions.run(lambda: look(wanted, before, limit))
    _print_page(page, circumstances, as_json)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What keeps pending jobs from starting, beside their turn and their time."""

    unknown_types: set[str]
    pauses: list[Pause]
    any_worker: bool = True

    def note(self, job: JobLine) -> str | None:
        """What is to be said about a job in a few words."""
        match job.status:
            case Status.PENDING:
                return self._why_pending(job)
            case Status.FAILED | Status.CANCELLED:
                lines = (job.error_end or "").strip().splitlines()
                return lines[-1] if lines else None
            case Status.CLAIMED | Status.RUNNING if job.cancel_requested_at is not None:
                return "to be cancelled"
        return job.current_stage

    def _why_pending(self, job: JobLine) -> str | None:
        if job.job_type in self.unknown_types:
            return NO_LIVE_WORKER if self.any_worker else NO_WORKER
        for pause in self.pauses:
            if pause.name == (job.queue if pause.kind is PauseKind.QUEUE else job.job_type):
                return f"{pause.kind} is paused"
        if job.attempts >= job.max_attempts:
            return "has no attempts left; `howdah retry` gives it one"
        if job.error_end is not None and job.error_end.startswith(KEY_MISSING):
            return job.error_end
        left = None if job.run_at is None else job.run_at - datetime.now(UTC)
        return f"due in {format_duration(left)}" if left is not None and left.total_seconds() > 0 else None


def look(wanted: JobFilter, before: UUID | None, limit: int) -> Operation[tuple[Page, Circumstances]]:
    """The page, and what is to be known about its pending jobs."""
    page = yield from list_jobs(wanted, before, limit, PATIENCE)
    return page, (yield from look_around(page.jobs))


def look_around(jobs: list[JobLine]) -> Operation[Circumstances]:
    """What keeps these from starting, if any of them is pending."""
    types = {job.job_type for job in jobs if job.status is Status.PENDING}
    if not types:
        return Circumstances(set(), [])
    unknown = yield from store.list_unknown_types(sorted(types))
    any_worker = (yield from store.is_served()) if unknown else True
    return Circumstances(unknown, (yield from store.list_pauses()), any_worker)


def _print_page(page: Page, circumstances: Circumstances, as_json: bool) -> None:
    now = datetime.now(UTC)
    if as_json:
        for job in page.jobs:
            print_json({**plain(job), "note": circumstances.note(job)})
    elif page.jobs:
        print_table(
            _HEADS,
            [
                (
                    job.id,
                    job.job_type,
                    job.status,
                    job.queue,
                    job.priority,
                    f"{job.progress}%",
                    f"{job.attempts}/{job.max_attempts}",
                    format_duration(now - job.created_at),
                    circumstances.note(job),
                )
                for job in page.jobs
            ],
            _FIT,
        )
    else:
        click.echo("no jobs", err=True)
    if page.searched_to is not None:
        click.echo(
            f"howdah: looked at {page.looked:,} jobs only; for older ones: --before {page.searched_to}",
            err=True,
        )


def _print_counts(app: Howdah, as_json: bool) -> None:
    counts = app.sessions.run(store.count_jobs)
    if as_json:
        for count in counts:
            print_json(count)
        return
    for count in counts:
        click.echo(count_line(count))


def count_line(count: StatusCount, newest: int = store.LOOK_LIMIT) -> str:
    """A count, and what it leaves out."""
    ended = f"  among the newest {newest:,}; older ones not counted" if count.capped and count.status.finished else ""
    more = "+" if count.capped and not count.status.finished else ""
    return f"{count.status:<9}  {f'{count.jobs}{more}':>6}{ended}"
