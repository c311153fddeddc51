"""A session for looking, never for changing: each operation in a read-only transaction of its own, with a time limit.

The limit is set inside each transaction, so that it also holds behind a pooler in transaction mode. A connection that
broke is made again for the next operation; whatever goes wrong is raised as a HowdahError, so that callers need not
know the driver.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

import psycopg
from psycopg import errors as pg

from howdah.db.catalog import Catalog
from howdah.db.connecting import connect
from howdah.db.faults import explain
from howdah.db.limits import limit_time
from howdah.db.op import Operation, Statement, perform
from howdah.model.errors import HowdahError, TookTooLong

T = TypeVar("T")
_PINGS = 3


class BoundedSession:
    """One connection on which nothing takes long."""

    def __init__(self, url: str, catalog: Catalog, role: str, limit: timedelta) -> None:
        self._url = url
        self.catalog = catalog
        self._role = role
        self._limit = limit
        self._connection: psycopg.Connection[Any] | None = None

    def run(self, operation: Operation[T]) -> T:
        """Run an operation; TookTooLong when one of its statements passes the limit."""
        with driver_told():
            connection = self._connected()
            with connection.transaction():
                perform(connection, self.catalog, limit_time(self._limit))
                return perform(connection, self.catalog, operation)

    def round_trip(self) -> timedelta:
        """How long the server takes to answer a question that costs it nothing; the best of a few."""
        with driver_told():
            connection = self._connected()
            return min(self._ping(connection) for _ in range(_PINGS))

    def place(self) -> str:
        """Which database this is, without its password."""
        with driver_told():
            info = self._connected().info
            return f"database {info.dbname} at {info.host}:{info.port} as role {info.user}"

    def open_another(self) -> psycopg.Connection[Any]:
        """A second connection by the same URL, for the caller to close."""
        return connect(self._url, self._role)

    def close(self) -> None:
        """Close the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = self.open_another()
        return self._connection

    def _ping(self, connection: psycopg.Connection[Any]) -> timedelta:
        start = time.perf_counter()
        perform(connection, self.catalog, _ping())
        return timedelta(seconds=time.perf_counter() - start)


def _ping() -> Operation[None]:
    yield Statement("db/read_backend")


@contextmanager
def driver_told() -> Iterator[None]:
    """Raise every fault of the driver as a HowdahError."""
    try:
        yield
    except pg.QueryCanceled as error:
        raise TookTooLong from error
    except psycopg.Error as error:
        raise explain(error) or HowdahError(" ".join(str(error).split())) from error
