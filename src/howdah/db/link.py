"""One connection kept for one purpose, made again after it broke.

A Link never hides a failure: the operation under way raises, the caller decides whether to repeat it.
`Outage` makes sure that a lost database is told once, and its return once, however many links notice.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any, TypeVar

import psycopg

from howdah.db.catalog import Catalog
from howdah.db.connecting import connect, connect_async
from howdah.db.faults import explain, is_busy, is_data_error, is_forbidden, kind_of
from howdah.db.op import Operation, perform, perform_async

T = TypeVar("T")
logger = logging.getLogger("howdah.worker")


class Outage:
    """Whether the database is away, told once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failing: set[str] = set()

    def begin(self, role: str, error: BaseException) -> None:
        """The link of that role failed; say so unless it has been said."""
        with self._lock:
            first = not self._failing
            self._failing.add(role)
        if first:
            logger.warning("database lost, trying again until it is back: %s", explain(error) or kind_of(error))

    def end(self, role: str) -> None:
        """The link of that role works. The database is back when all that failed work again: on a server that has
        become read-only some go on working."""
        if role in self._failing:
            with self._lock:
                self._failing.discard(role)
                last = not self._failing
            if last:
                logger.warning("database is back")


class Link:
    """An async connection for one purpose. `optional`: this role may lack the right to it, and that is no outage."""

    def __init__(self, url: str, catalog: Catalog, role: str, outage: Outage, *, optional: bool = False) -> None:
        self._url = url
        self._catalog = catalog
        self._role = role
        self._outage = outage
        self._optional = optional
        self._connection: psycopg.AsyncConnection[Any] | None = None
        self._connecting = asyncio.Lock()

    async def perform(self, operation: Operation[T]) -> T:
        """Run an operation; after a failure the next call connects anew."""
        try:
            connection = await self.connection()
            result = await perform_async(connection, self._catalog, operation)
        except psycopg.Error as error:
            if not (is_data_error(error) or is_busy(error) or (self._optional and is_forbidden(error))):
                self._outage.begin(self._role, error)
                await self.close()
            raise
        except BaseException:
            # Cancelled in mid-statement: the connection may be inside anything, so it is not used again.
            await self.close()
            raise
        self._outage.end(self._role)
        return result

    async def connection(self) -> psycopg.AsyncConnection[Any]:
        """The connection, opened if need be."""
        if self._connection is not None and not self._connection.closed:
            return self._connection
        # One at a time: many jobs may want it at once, and a connection each is over the worker's budget.
        async with self._connecting:
            if self._connection is None or self._connection.closed:
                self._connection = await connect_async(self._url, self._role)
            return self._connection

    @property
    def direct(self) -> bool:
        """Whether the connection is known to have no pooler between it and the server."""
        return self._connection is not None and self._connection.prepare_threshold is not None

    async def close(self) -> None:
        """Close the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()


class BlockingLink:
    """A blocking connection for one purpose, used by one thread."""

    def __init__(self, url: str, catalog: Catalog, role: str, outage: Outage) -> None:
        self._url = url
        self._catalog = catalog
        self._role = role
        self._outage = outage
        self._connection: psycopg.Connection[Any] | None = None

    def perform(self, operation: Operation[T], *, optional: bool = False) -> T:
        """Run an operation; after a failure the next call connects anew. `optional`: this role may lack the right to
        it, and that is no outage."""
        try:
            if self._connection is None or self._connection.closed:
                self._connection = connect(self._url, self._role)
            result = perform(self._connection, self._catalog, operation)
        except psycopg.Error as error:
            if not (is_data_error(error) or is_busy(error) or (optional and is_forbidden(error))):
                self._outage.begin(self._role, error)
                self.close()
            raise
        self._outage.end(self._role)
        return result

    def close(self) -> None:
        """Close the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
