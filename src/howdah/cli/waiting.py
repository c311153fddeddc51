"""`howdah enqueue --wait`: waits for a job's end, and says so if nobody is there to run it."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import click

from howdah.admin import store
from howdah.app import Howdah
from howdah.cli.watching import WatchView, bars, bars_fit, follow
from howdah.client.definition import JobDefinition
from howdah.client.handle import Job
from howdah.model.errors import DatabaseUnavailable, WaitTimeout
from howdah.model.status import Status
from howdah.model.update import Update

#: How long a job may wait before somebody looks whether there is a worker for it.
PATIENCE = 2.0


def wait_for_end(app: Howdah, job: Job[Any], tell: Callable[[], None], timeout: timedelta | None) -> None:
    """Wait; if the job has not been started by then, and no live worker serves it, `tell` once and wait on. On a
    terminal the wait is a bar, on stderr: stdout is for the result."""
    waiting = _Waiting(job, bars(on_stderr=True) if bars_fit(sys.stderr) else None)
    seconds = None if timeout is None else timeout.total_seconds()
    try:
        if seconds is not None and seconds <= PATIENCE:
            waiting.wait(seconds)
            return
        began = time.monotonic()
        try:
            waiting.wait(PATIENCE)
            return
        except WaitTimeout:
            record = job.refresh().record
        if record.status is Status.PENDING and not is_served(app, job.job_type, record.queue):
            tell()
        try:
            waiting.wait(None if seconds is None else max(0.0, seconds - (time.monotonic() - began)))
        except WaitTimeout:
            raise WaitTimeout(f"job {job.id} did not finish within {seconds} s; it goes on") from None
    except KeyboardInterrupt:
        click.echo(f"howdah: no longer waiting; the job goes on, and can be seen with: howdah watch {job.id}", err=True)
        raise


class _Waiting:
    """Waits for one job, in silence or with a bar, in one go or in several."""

    def __init__(self, job: Job[Any], view: WatchView | None) -> None:
        self._job = job
        self._view = view
        self._told = 0

    def wait(self, seconds: float | None) -> None:
        """Until the job has ended; WaitTimeout after so many seconds."""
        if self._view is not None:
            follow(self._noted(self._job.watch(seconds, after=self._told)), self._view)
        self._job.wait(seconds)

    def _noted(self, updates: Iterable[Update]) -> Iterator[Update]:
        for update in updates:
            self._told = update.events[-1].seq if update.events else self._told
            yield update


def is_served(app: Howdah, job_type: str, queue: str) -> bool:
    """Whether a live worker serves the job, as far as one may know."""
    try:
        return app.sessions.run(partial(store.is_served, job_type, queue))
    except DatabaseUnavailable:
        # A producer's role may not look at workers. If it is an outage instead, the wait that follows says so.
        return True


def tell_start(app_name: str, definition: JobDefinition[..., Any], elsewhere: bool) -> None:
    """Say which worker is missing, and how to start it."""
    queue = definition.options.queue
    # Left to itself, a worker serves the queues that its job types name.
    own = queue == definition.handler.queue
    place, option = ("", "") if own else (f" in queue {queue!r}", f" --queue {shlex.quote(queue)}")
    same = ", on the same database" if elsewhere else ""
    click.echo(
        f"howdah: no live worker serves {definition.name!r}{place}; "
        f"start one with: howdah worker {app_name}{option}{same}",
        err=True,
    )
