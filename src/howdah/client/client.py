"""The client: every request of application code, blocking and async, over one set of operations."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from uuid import UUID

from howdah.client import store
from howdah.client.opening import SealedTexts, open_event, open_record, seal_data, why_sealed
from howdah.db.op import Operation
from howdah.db.sessions import Sessions, run_on, run_on_async
from howdah.model.errors import JobBusy, JobNotFound, OptionError, SealedError, WaitTimeout, shown
from howdah.model.job import JobEvent, JobRecord
from howdah.model.options import JobOptions
from howdah.model.update import Update
from howdah.sealing.keyring import Keyring
from howdah.telemetry.tracing import enqueueing
from howdah.watch.hub import Hub
from howdah.watch.selection import Selection
from howdah.watch.stream import Watch

#: Seconds; longer than any process lives.
_LONGEST_WAIT = 1e9


class Client:
    """What application code asks; methods that begin with `a` are for async code and otherwise the same."""

    def __init__(self, sessions: Sessions, keyring: Keyring | None = None) -> None:
        self._sessions = sessions
        self._keyring = keyring
        self._hub = Hub(sessions)

    def enqueue(self, job_id: UUID, job_type: str, data: str, options: JobOptions, conn: object = None) -> None:
        """Put one job into the queue, in the caller's transaction if `conn` is given."""
        if self._keyring is not None:
            data = seal_data(job_id, job_type, data, self._keyring)
        with enqueueing(job_type, options.queue, (job_id,)) as trace:
            if conn is not None:
                operation = store.enqueue(job_id, job_type, data, options, alone=False, trace=trace)
                run_on(conn, self._sessions.catalog, operation)
            else:
                self._sessions.run(lambda: store.enqueue(job_id, job_type, data, options, alone=True, trace=trace))

    async def aenqueue(self, job_id: UUID, job_type: str, data: str, options: JobOptions, conn: object = None) -> None:
        """Put one job into the queue, in the caller's transaction if `conn` is given."""
        if self._keyring is not None:
            data = seal_data(job_id, job_type, data, self._keyring)
        with enqueueing(job_type, options.queue, (job_id,)) as trace:
            if conn is not None:
                operation = store.enqueue(job_id, job_type, data, options, alone=False, trace=trace)
                await run_on_async(conn, self._sessions.catalog, operation)
            else:
                await self._sessions.run_async(
                    lambda: store.enqueue(job_id, job_type, data, options, alone=True, trace=trace)
                )

    def enqueue_many(
        self,
        ids: Sequence[UUID],
        job_type: str,
        data: Sequence[str],
        options: JobOptions,
        conn: object = None,
    ) -> None:
        """Put many jobs into the queue, all or none."""
        if self._keyring is not None:
            data = SealedTexts(ids, job_type, data, self._keyring)
        with enqueueing(job_type, options.queue, ids) as trace:
            if conn is not None:
                run_on(conn, self._sessions.catalog, store.enqueue_many(ids, job_type, data, options, trace))
                return
            operations = _first_by_copy(ids, job_type, data, options, trace)
            self._sessions.run(lambda: next(operations), transaction=True)

    async def aenqueue_many(
        self,
        ids: Sequence[UUID],
        job_type: str,
        data: Sequence[str],
        options: JobOptions,
        conn: object = None,
    ) -> None:
        """Put many jobs into the queue, all or none."""
        if self._keyring is not None:
            data = SealedTexts(ids, job_type, data, self._keyring)
        with enqueueing(job_type, options.queue, ids) as trace:
            if conn is not None:
                operation = store.enqueue_many(ids, job_type, data, options, trace)
                await run_on_async(conn, self._sessions.catalog, operation)
                return
            operations = _first_by_copy(ids, job_type, data, options, trace)
            await self._sessions.run_async(lambda: next(operations), transaction=True)

    def get(self, job_id: UUID) -> JobRecord:
        """The job as it stands."""
        return self._opened(job_id, self._sessions.run(lambda: store.get_job(job_id)))

    async def aget(self, job_id: UUID) -> JobRecord:
        """The job as it stands."""
        return self._opened(job_id, await self._sessions.run_async(lambda: store.get_job(job_id)))

    def wait(self, job_id: UUID, timeout: float | None) -> JobRecord:
        """Wait until the job has ended."""
        for pause in _pauses(job_id, timeout):
            status = self._sessions.run(lambda: store.get_status(job_id))
            if status is None or status.finished:
                break
            time.sleep(pause)
        return self.get(job_id)

    async def await_(self, job_id: UUID, timeout: float | None) -> JobRecord:
        """Wait until the job has ended."""
        for pause in _pauses(job_id, timeout):
            status = await self._sessions.run_async(lambda: store.get_status(job_id))
            if status is None or status.finished:
                break
            await asyncio.sleep(pause)
        return await self.aget(job_id)

    def events(self, job_id: UUID, after: int = 0) -> list[JobEvent]:
        """The job's events, in order."""
        return self._open_events(job_id, self._sessions.run(lambda: store.list_events(job_id, after)))

    async def aevents(self, job_id: UUID, after: int = 0) -> list[JobEvent]:
        """The job's events, in order."""
        return self._open_events(job_id, await self._sessions.run_async(lambda: store.list_events(job_id, after)))

    def watch(self, selection: Selection, *, after: int = 0, timeout: float | None = None) -> Watch:
        """Updates of these jobs as they happen, for a `for` and for an `async for` loop."""
        return Watch(self._hub, selection, after=after, timeout=timeout, opened=self._open_update)

    def close(self) -> None:
        """End every watch. The next one opens a connection again."""
        self._hub.close()

    def cancel(self, job_id: UUID) -> bool:
        """Cancel the job: at once if it waits, by request if it runs.

        True: it is cancelled or will be; False: it had ended otherwise.
        """
        return _cancelled(job_id, self._sessions.run(lambda: store.cancel(job_id)))

    async def acancel(self, job_id: UUID) -> bool:
        """Cancel the job: at once if it waits, by request if it runs.

        True: it is cancelled or will be; False: it had ended otherwise.
        """
        return _cancelled(job_id, await self._sessions.run_async(lambda: store.cancel(job_id)))

    def retry(self, job_id: UUID) -> None:
        """Run a finished job again, or a waiting one now."""
        _retried(job_id, self._sessions.run(lambda: store.retry(job_id)))

    async def aretry(self, job_id: UUID) -> None:
        """Run a finished job again, or a waiting one now."""
        _retried(job_id, await self._sessions.run_async(lambda: store.retry(job_id)))

    def why_sealed(self, record: JobRecord, field: str) -> SealedError | None:
        """Why this field of the record could not be opened; None: it is open."""
        return why_sealed(record, field, self._keyring)

    def _opened(self, job_id: UUID, found: JobRecord | None) -> JobRecord:
        record = _found(job_id, found)
        return record if self._keyring is None else open_record(record, self._keyring)

    def _open_update(self, update: Update) -> Update:
        if self._keyring is None or not update.events:
            return update
        return replace(update, events=tuple(self._open_events(update.job_id, list(update.events))))

    def _open_events(self, job_id: UUID, events: list[JobEvent]) -> list[JobEvent]:
        keyring = self._keyring
        return events if keyring is None else [open_event(event, job_id, keyring) for event in events]


def _first_by_copy(
    ids: Sequence[UUID], job_type: str, data: Sequence[str], options: JobOptions, trace: str | None
) -> Iterator[Operation[None]]:
    # After a broken connection nobody knows whether the COPY was committed: repeat so that existing ids are left.
    yield store.enqueue_many(ids, job_type, data, options, trace)
    while True:
        yield store.repeat_many(ids, job_type, data, options, trace)


def _pauses(job_id: UUID, timeout: float | None) -> Iterator[float]:
    if timeout is not None and (not isinstance(timeout, int | float) or timeout != timeout):
        raise OptionError(f"wait takes its timeout in seconds, not {shown(timeout)}")
    # Bounded first: an endless whole number is no float.
    deadline = None if timeout is None else time.monotonic() + max(-1, min(timeout, _LONGEST_WAIT))
    pause = 0.005
    while True:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            # The last look came after the deadline had passed with the job unfinished.
            raise WaitTimeout(
                f"job {job_id} did not finish within {shown(timeout)} s; it goes on, and you may wait again"
            )
        yield pause * random.uniform(0.8, 1.2) if left is None else min(pause, left)  # noqa: S311 - spreads polls
        pause = min(pause * 1.5, 0.5)


def _found(job_id: UUID, record: JobRecord | None) -> JobRecord:
    if record is None:
        raise JobNotFound(f"no job {job_id}; it may be past its retention, in another database, or not committed")
    return record


def _cancelled(job_id: UUID, answer: str | None) -> bool:
    if answer is None:
        raise JobNotFound(f"no job {job_id}; it may be past its retention, in another database, or not committed")
    return answer in ("cancelled", "requested")


def _retried(job_id: UUID, answer: str | None) -> None:
    if answer is None:
        raise JobNotFound(f"no job {job_id}; it may be past its retention, in another database, or not committed")
    if answer != "pending":
        raise JobBusy(f"job {job_id} is {answer}: cancel it first, or wait until it has finished")
