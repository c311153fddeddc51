"""A registered job type in the caller's hand: the decorated function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Generic, ParamSpec, TypedDict, TypeVar, Unpack
from uuid import UUID

from howdah.client.client import Client
from howdah.client.encoding import Encoding, as_items
from howdah.client.handle import Job
from howdah.model.errors import ArgumentError
from howdah.model.handler import Handler
from howdah.model.job_id import as_job_id, new_job_id, new_job_ids
from howdah.model.options import JobOptions

P = ParamSpec("P")
R = TypeVar("R")


class UsingOptions(TypedDict, total=False):
    """What `using` can change for one enqueue."""

    priority: int
    queue: str
    delay: timedelta
    run_at: datetime
    max_attempts: int
    conn: Any
    job_id: UUID


class JobDefinition(Generic[P, R]):
    """A job type: call it to run the function here and now, `enqueue` it to have a worker run it."""

    def __init__(
        self,
        handler: Handler,
        options: JobOptions,
        client: Callable[[], Client],
        *,
        data_limit: int,
        load_result: Callable[[Any], Any] | None = None,
    ) -> None:
        self.handler = handler
        self.options = options
        self._client = client
        self._data_limit = data_limit
        self.load_result = load_result
        self.__name__ = handler.name
        self.__doc__ = handler.function.__doc__
        self.__wrapped__ = handler.function
        self._conn: object = None
        self._job_id: UUID | None = None

    def __repr__(self) -> str:
        return f"<job type {self.handler.name!r}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function itself, here and now, as if it had never been decorated."""
        return self.handler.function(*args, **kwargs)

    @property
    def name(self) -> str:
        """The job type, as it stands in the table."""
        return self.handler.name

    def using(self, **changes: Unpack[UsingOptions]) -> JobDefinition[P, R]:
        """The same job type with other options for what is enqueued next: priority (higher runs first), queue, delay or
        run_at, max_attempts, conn (enqueue inside that connection's transaction), job_id."""
        unknown = set(changes) - set(UsingOptions.__annotations__)
        if unknown:
            known = ", ".join(sorted(UsingOptions.__annotations__))
            raise ArgumentError(f"using() has no option {sorted(unknown)[0]!r}; there are: {known}")
        twin = JobDefinition[P, R](
            self.handler,
            self.options,
            self._client,
            data_limit=self._data_limit,
            load_result=self.load_result,
        )
        options: dict[str, Any] = {**changes}
        twin._conn = options.pop("conn", self._conn)
        twin._job_id = as_job_id(options.pop("job_id")) if "job_id" in options else None
        twin.options = self.options.changed(**options)
        return twin

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> Job[R]:
        """Have a worker run it. Arguments are checked first; nothing is written if they do not fit."""
        job_id, data = self._job_id or new_job_id(), self._encode(args, kwargs)
        self._client().enqueue(job_id, self.name, data, self.options, self._conn)
        return self._handle(job_id)

    async def aenqueue(self, *args: P.args, **kwargs: P.kwargs) -> Job[R]:
        """Have a worker run it. Arguments are checked first; nothing is written if they do not fit."""
        job_id, data = self._job_id or new_job_id(), self._encode(args, kwargs)
        await self._client().aenqueue(job_id, self.name, data, self.options, self._conn)
        return self._handle(job_id)

    def enqueue_many(self, items: Iterable[Mapping[str, Any]]) -> list[Job[R]]:
        """Enqueue one job for each mapping of arguments: all of them or, if one does not fit, none."""
        data = self._encode_all(items)
        ids = new_job_ids(len(data))
        if ids:
            self._client().enqueue_many(ids, self.name, data, self.options, self._conn)
        return self._handles(ids)

    async def aenqueue_many(self, items: Iterable[Mapping[str, Any]]) -> list[Job[R]]:
        """Enqueue one job for each mapping of arguments: all of them or, if one does not fit, none."""
        data = self._encode_all(items)
        ids = new_job_ids(len(data))
        if ids:
            await self._client().aenqueue_many(ids, self.name, data, self.options, self._conn)
        return self._handles(ids)

    def _handles(self, ids: list[UUID]) -> list[Job[R]]:
        name, client, load_result = self.name, self._client(), self.load_result
        return [Job(job_id, name, client, None, load_result) for job_id in ids]

    def _handle(self, job_id: UUID) -> Job[R]:
        return Job(job_id, self.name, self._client(), load_result=self.load_result)

    def _encode(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> str:
        return self.handler.signature.encode(args, kwargs, limit=self._data_limit)

    def _encode_all(self, items: Iterable[Mapping[str, Any]]) -> Sequence[str]:
        encode, limit = self.handler.signature.encode, self._data_limit
        encoding = Encoding(as_items(items), lambda item: encode((), item, limit=limit))
        # In the caller's transaction nothing may be sent before everything is known to fit: a failure would abort it.
        return encoding if self._conn is None else encoding.all()
