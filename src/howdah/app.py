"""The app: wires the rooms together, holds no logic of its own."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, overload
from uuid import UUID

from howdah.client.client import Client
from howdah.client.definition import JobDefinition
from howdah.client.handle import Job
from howdah.db.catalog import DEFAULT_SCHEMA, Catalog
from howdah.db.sessions import Sessions
from howdah.model.context import JobContext
from howdah.model.errors import OptionError, UnknownJobType, shown
from howdah.model.handler import ErrorHook, Handler, Mode
from howdah.model.job_id import as_job_id
from howdah.model.options import JobOptions, check_name
from howdah.model.priority import Priority
from howdah.model.retry import Backoff, RetryPolicy
from howdah.model.worker_settings import WorkerSettings
from howdah.payload.results import result_loader
from howdah.payload.signature import read_signature
from howdah.sealing.keyring import Keyring, keyring_in_environment
from howdah.watch.selection import select
from howdah.watch.stream import Watch

# Programs that only enqueue, and most commands, need none of these: they took a fifth of the time of importing.
if TYPE_CHECKING:
    from howdah.db.link import Link
    from howdah.embedded.server import EmbeddedServer
    from howdah.telemetry.tally import Tally
    from howdah.worker.worker import Worker

logger = logging.getLogger("howdah")
P = ParamSpec("P")
R = TypeVar("R")
DATA_LIMIT = 262_144
EMBEDDED_FOLDER = ".howdah"


class _Decorator:
    """What `app.job(...)` returns; typed so that `enqueue` has the handler's own parameters, less the context."""

    def __init__(self, register: Callable[[Callable[..., Any]], JobDefinition[..., Any]]) -> None:
        self._register = register

    @overload
    def __call__(self, function: Callable[Concatenate[JobContext, P], Awaitable[R]]) -> JobDefinition[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, Awaitable[R]]) -> JobDefinition[P, R]: ...
    @overload
    def __call__(self, function: Callable[Concatenate[JobContext, P], R]) -> JobDefinition[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, R]) -> JobDefinition[P, R]: ...
    def __call__(self, function: Callable[..., Any]) -> JobDefinition[..., Any]:
        return self._register(function)


class Howdah:
    """A queue and the job types of one application.

    The database: `url`, else the environment's HOWDAH_URL, else an embedded PostgreSQL kept under ./.howdah. Making an
    app connects to nothing; the first use does. `encryption`: keys that seal what jobs carry; else those in
    HOWDAH_KEYS, else nothing is sealed.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        schema: str = DEFAULT_SCHEMA,
        data_limit: int = DATA_LIMIT,
        pool_size: int = 10,
        encryption: Keyring | None = None,
    ) -> None:
        self.handlers: dict[str, Handler] = {}
        self._error_hooks: list[ErrorHook] = []
        self.definitions: dict[str, JobDefinition[..., Any]] = {}
        self._data_limit = data_limit
        self._pool_size = pool_size
        if encryption is not None and not isinstance(encryption, Keyring):
            raise OptionError(f"encryption takes a Keyring, not {type(encryption).__name__}")
        self._keyring = keyring_in_environment() if encryption is None else encryption
        self._embedded: EmbeddedServer | None = None
        self.move_to(url, schema)

    def move_to(self, url: str | None, schema: str) -> None:
        """Use another database or schema than the code names: for the command line's --url and --schema, before the app
        has been used."""
        self._url = url
        self.catalog = Catalog(schema)
        # An embedded server is the developer's own: nobody else would migrate it.
        embedded = url is None and not os.environ.get("HOWDAH_URL")
        self._sessions = Sessions(self.locate, self.catalog, size=self._pool_size, may_migrate=embedded)
        self._client = Client(self._sessions, self._keyring)

    @property
    def url_in_code(self) -> str | None:
        """The database that the code names, if it names one."""
        return self._url

    def locate(self) -> str:
        """The database's URL; starts the embedded server if it is that."""
        given = self._url or os.environ.get("HOWDAH_URL")
        if given:
            return given
        if self._embedded is None:
            from howdah.embedded.server import EmbeddedServer

            folder = Path(EMBEDDED_FOLDER)
            if not folder.exists():
                # A warning, because jobs enqueued here are seen by nobody who stands in another folder.
                logger.warning("making a PostgreSQL for development in %s; HOWDAH_URL names another", folder.absolute())
            self._embedded = EmbeddedServer(folder)
        return self._embedded.acquire()

    @overload
    def job(self, function: Callable[Concatenate[JobContext, P], Awaitable[R]], /) -> JobDefinition[P, R]: ...
    @overload
    def job(self, function: Callable[P, Awaitable[R]], /) -> JobDefinition[P, R]: ...
    @overload
    def job(self, function: Callable[Concatenate[JobContext, P], R], /) -> JobDefinition[P, R]: ...
    @overload
    def job(self, function: Callable[P, R], /) -> JobDefinition[P, R]: ...
    @overload
    def job(
        self,
        /,
        *,
        name: str | None = None,
        priority: int = Priority.DISCOVERED,
        queue: str = "default",
        max_attempts: int = 3,
        timeout: timedelta | None = None,
        retry: RetryPolicy | None = None,
        process: bool = False,
    ) -> _Decorator: ...
    def job(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        name: str | None = None,
        priority: int = Priority.DISCOVERED,
        queue: str = "default",
        max_attempts: int = 3,
        timeout: timedelta | None = None,
        retry: RetryPolicy | None = None,
        process: bool = False,
    ) -> _Decorator | JobDefinition[..., Any]:
        """Register a function as a job type. HIGHER priority runs first.

        `async def` runs on the event loop, `def` in a thread, `process=True` in a child process that can be killed. The
        context is passed only where the first parameter is annotated with JobContext.
        """
        if function is not None and not callable(function):
            raise OptionError(f"@app.job takes options by name, such as @app.job(name={shown(function)})")
        if timeout is not None and (not isinstance(timeout, timedelta) or timeout <= timedelta(0)):
            raise OptionError(f"timeout must be a timedelta longer than nothing, not {shown(timeout)}")
        if retry is not None and not callable(retry):
            raise OptionError(f"retry takes a Backoff(…) or a function (errors, error) → timedelta, not {shown(retry)}")
        options = JobOptions(priority=priority, queue=queue, max_attempts=max_attempts)

        def register(decorated: Callable[..., Any]) -> JobDefinition[..., Any]:
            mode = Mode.LOOP if _is_async(decorated) else Mode.THREAD
            handler = Handler(
                name=check_name("job type", name or _name_of(decorated)),
                function=decorated,
                signature=read_signature(decorated, JobContext),
                mode=Mode.PROCESS if process else mode,
                timeout=timeout,
                retry=retry or Backoff(),
                queue=queue,
            )
            if process:
                from howdah.worker.process_runner import check_importable

                check_importable(handler)
            return self._add(handler, options, result_loader(decorated))

        return _Decorator(register) if function is None else register(function)

    def include(self, other: Howdah) -> None:
        """Register the job types of another app here too: a library's, or those of a part of this application. Its own
        definitions go on enqueueing into its own database; `definition(name)` has those that enqueue into this one."""
        for definition in other.definitions.values():
            self._add(definition.handler, definition.options, definition.load_result)

    def on_error(self, hook: ErrorHook) -> ErrorHook:
        """Have this called, in the worker, with what a handler raised and the job's context: to tell Sentry or the
        like. For errors of every attempt, timeouts and dead child processes; not for Retry, Snooze, Cancel and Fail,
        which are words of the handler. It runs on the worker's event loop and must not take long."""
        if not callable(hook):
            raise OptionError(f"on_error takes a function (error, context), not {shown(hook)}")
        self._error_hooks.append(hook)
        return hook

    def get(self, job_id: UUID | str) -> Job[Any]:
        """The job with that id, as it stands."""
        identity = as_job_id(job_id)
        record = self._client.get(identity)
        return Job(identity, record.job_type, self._client, record, self._loader(record.job_type))

    async def aget(self, job_id: UUID | str) -> Job[Any]:
        """The job with that id, as it stands."""
        identity = as_job_id(job_id)
        record = await self._client.aget(identity)
        return Job(identity, record.job_type, self._client, record, self._loader(record.job_type))

    def watch(
        self,
        *jobs: Job[Any] | UUID | str,
        job_types: str | Iterable[str] = (),
        queues: str | Iterable[str] = (),
        statuses: str | Iterable[str] = (),
        timeout: float | None = None,
    ) -> Watch:
        """How jobs go, as it happens: `async for update in app.watch(job_types="encode")`, or `for` in a thread.

        With jobs (or their ids): until the last of them has ended. Without: whatever workers hold and whatever is newly
        enqueued, without end. `statuses`: only while they stand so.
        """
        ids = [job.id if isinstance(job, Job) else job for job in jobs]
        return self._client.watch(select(ids, job_types, queues, statuses), timeout=timeout)

    def definition(self, job_type: str) -> JobDefinition[..., Any]:
        """The job type of that name."""
        if not isinstance(job_type, str) or job_type not in self.definitions:
            known = ", ".join(sorted(self.definitions)) or "none"
            raise UnknownJobType(f"this app registers no job type {shown(job_type)}; it has: {known}")
        return self.definitions[job_type]

    @property
    def sessions(self) -> Sessions:
        """Connections to this app's database."""
        return self._sessions

    @property
    def keyring(self) -> Keyring | None:
        """The keys that seal what jobs carry, if it is sealed."""
        return self._keyring

    def worker(self, settings: WorkerSettings | None = None) -> Worker:
        """A worker for this app's job types; `await worker.run()` inside a running event loop."""
        from howdah.worker.worker import Worker

        return Worker(
            self._sessions.url(),
            self.catalog,
            self.handlers,
            settings or WorkerSettings(),
            _do_chores,
            self._error_hooks,
            self._keyring,
        )

    def close(self) -> None:
        """Give back connections and, if this process uses one, the embedded server."""
        self._client.close()
        self._sessions.close()
        if self._embedded is not None:
            self._embedded.release()

    async def aclose(self) -> None:
        """Give back connections and, if this process uses one, the embedded server."""
        await asyncio.to_thread(self._client.close)
        await self._sessions.close_async()
        if self._embedded is not None:
            await asyncio.to_thread(self._embedded.release)

    def _add(
        self, handler: Handler, options: JobOptions, load_result: Callable[[Any], Any] | None
    ) -> JobDefinition[..., Any]:
        if handler.name in self.handlers:
            raise OptionError(f"job type {handler.name!r} is registered twice; give one of them another name=")
        definition = JobDefinition[..., Any](
            handler, options, lambda: self._client, data_limit=self._data_limit, load_result=load_result
        )
        self.handlers[handler.name] = handler
        self.definitions[handler.name] = definition
        return definition

    def _loader(self, job_type: str) -> Callable[[Any], Any] | None:
        definition = self.definitions.get(job_type)
        return definition.load_result if definition is not None else None


async def _do_chores(link: Link, silence: float, ring: Callable[[], None], tally: Tally) -> None:
    from howdah.maintenance.chores import Chores

    try:
        await Chores(link, silence, ring, tally).run()
    finally:
        await link.close()


def _name_of(function: Callable[..., Any]) -> str:
    found = getattr(function, "__name__", None)
    if not isinstance(found, str):
        raise OptionError(f"{shown(function)} has no name of its own; give it one: @app.job(name=…)")
    return found


def _is_async(function: Callable[..., Any]) -> bool:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise OptionError(f"{_name_of(function)} is a generator; a handler returns its result, it does not yield")
    called = getattr(function, "__call__", None)  # noqa: B004 - not whether it can be called, but what is called
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)
