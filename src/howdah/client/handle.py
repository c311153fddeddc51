"""A job in the caller's hand."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Generic, TypeVar, cast
from uuid import UUID

from howdah.client.client import Client
from howdah.model.errors import JobCancelled, JobFailed, ResultNotReady
from howdah.model.job import JobEvent, JobRecord
from howdah.model.status import Status
from howdah.watch.selection import Selection
from howdah.watch.stream import Watch

R = TypeVar("R")


class Job(Generic[R]):
    """One job: its id, and what was last read of it. `refresh()` reads it again; nothing else touches the database
    unasked. Methods that begin with `a` are for async code; the async form of `wait` is `await_`."""

    __slots__ = ("_client", "_load_result", "_record", "id", "job_type")

    def __init__(
        self,
        job_id: UUID,
        job_type: str,
        client: Client,
        record: JobRecord | None = None,
        load_result: Callable[[Any], Any] | None = None,
    ) -> None:
        self.id = job_id
        self.job_type = job_type
        self._client = client
        self._record = record
        self._load_result = load_result

    def __repr__(self) -> str:
        known = f" {self._record.status}" if self._record is not None else ""
        return f"<Job {self.job_type} {self.id}{known}>"

    @property
    def record(self) -> JobRecord:
        """Everything about the job, as last read; read now if it never was."""
        if self._record is None:
            self.refresh()
        return cast(JobRecord, self._record)

    @property
    def status(self) -> Status:
        """Where the job stands, as last read."""
        return self.record.status

    @property
    def progress(self) -> int:
        """Percent done, as last read."""
        return self.record.progress

    @property
    def current_stage(self) -> str | None:
        """What the job said it is doing, as last read."""
        return self.record.current_stage

    @property
    def attempts(self) -> int:
        """How often it was claimed, as last read."""
        return self.record.attempts

    @property
    def last_error(self) -> str | None:
        """Why it last failed, as last read."""
        return self.record.last_error

    @property
    def run_at(self) -> datetime | None:
        """When it is due, as last read; None: at once."""
        return self.record.run_at

    @property
    def result(self) -> R:
        """What the handler returned. Raises JobFailed, JobCancelled or ResultNotReady if there is nothing to return,
        KeyMissing or SealBroken if it is sealed and cannot be opened."""
        if self._record is None or not self._record.status.finished:
            self.refresh()
        record = self.record
        if record.status is Status.COMPLETED:
            sealed = self._client.why_sealed(record, "result")
            if sealed is not None:
                raise sealed
            return cast(R, self._load_result(record.result) if self._load_result else record.result)
        if record.status is Status.FAILED:
            reason = (record.last_error or "no reason given").strip().splitlines()[-1]
            raise JobFailed(f"job {self.id} ({self.job_type}) failed: {reason}")
        if record.status is Status.CANCELLED:
            raise JobCancelled(f"job {self.id} ({self.job_type}) was cancelled")
        raise ResultNotReady(f"job {self.id} is {record.status}; call wait() first")

    def refresh(self) -> Job[R]:
        """Read the job again."""
        self._record = self._client.get(self.id)
        return self

    async def arefresh(self) -> Job[R]:
        """Read the job again."""
        self._record = await self._client.aget(self.id)
        return self

    def wait(self, timeout: float | None = None) -> Job[R]:
        """Wait until the job has ended, however it ended; raises WaitTimeout after `timeout` seconds."""
        self._record = self._client.wait(self.id, timeout)
        return self

    async def await_(self, timeout: float | None = None) -> Job[R]:
        """Wait until the job has ended, however it ended; raises WaitTimeout after `timeout` seconds."""
        self._record = await self._client.await_(self.id, timeout)
        return self

    def watch(self, timeout: float | None = None, *, after: int = 0) -> Watch:
        """How the job goes, as it happens: `for update in job.watch()`, or `async for` on an event loop. Begins with
        how it stands and its events after number `after`, ends with its end; WaitTimeout after `timeout` seconds."""
        return self._client.watch(Selection((self.id,)), after=after, timeout=timeout)

    def cancel(self) -> bool:
        """Cancel it: at once if it waits, by request if it runs.

        True: it is cancelled or will be; False: it had ended otherwise.
        """
        return self._client.cancel(self.id)

    async def acancel(self) -> bool:
        """Cancel it: at once if it waits, by request if it runs.

        True: it is cancelled or will be; False: it had ended otherwise.
        """
        return await self._client.acancel(self.id)

    def retry(self) -> Job[R]:
        """Run it again if it has ended, or now if it waits for its time."""
        self._client.retry(self.id)
        return self.refresh()

    async def aretry(self) -> Job[R]:
        """Run it again if it has ended, or now if it waits for its time."""
        await self._client.aretry(self.id)
        return await self.arefresh()

    def events(self, after: int = 0) -> list[JobEvent]:
        """What the job said with ctx.event, in order."""
        return self._client.events(self.id, after)

    async def aevents(self, after: int = 0) -> list[JobEvent]:
        """What the job said with ctx.event, in order."""
        return await self._client.aevents(self.id, after)
