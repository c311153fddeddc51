"""`howdah export`: jobs as JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from uuid import UUID

import click

from howdah.admin import store
from howdah.admin.filters import JobFilter
from howdah.admin.listing import Budget, find_jobs
from howdah.app import Howdah
from howdah.cli.database import database_options, opened
from howdah.cli.filtering import filter_options
from howdah.cli.output import print_json
from howdah.db.op import Operation
from howdah.model.job import JobRecord

#: Jobs in memory at a time.
PAGE = 500
_BUDGET = Budget(look=100_000, seconds=5.0)


@click.command()
@database_options
@filter_options
@click.option("--limit", type=click.IntRange(1), help="At most this many.  [default: all]")
def export(url: str | None, schema: str | None, wanted: JobFilter, limit: int | None) -> None:
    """Print jobs as JSON, one a line, newest first.

    With arguments, results and errors. Reads page by page, so that it takes the same memory for any number of jobs;
    each page is as it was when it was read.
    """
    with opened(url, schema) as app:
        for number, record in enumerate(jobs_of(app, wanted), start=1):
            print_json(record)
            if number == limit:
                break


def jobs_of(app: Howdah, wanted: JobFilter) -> Iterator[JobRecord]:
    """Every job that fits, newest first."""
    before: UUID | None = None
    while True:
        records, before = app.sessions.run(partial(_page, wanted, before))
        yield from records
        if before is None:
            return


def _page(wanted: JobFilter, before: UUID | None) -> Operation[tuple[list[JobRecord], UUID | None]]:
    """Some jobs, and where to go on; None: that was all."""
    found = yield from find_jobs(wanted, before, PAGE, _BUDGET)
    records = (yield from store.read_jobs(found.ids)) if found.ids else []
    return records, found.searched_to or (found.ids[-1] if len(found.ids) == PAGE else None)
