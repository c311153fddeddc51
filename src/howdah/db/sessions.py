"""Connections lent to client code: one pool for blocking code, one for each event loop.

States of `Sessions`: not yet checked → checked (the schema fits) → closed. The first use connects directly rather than
through the pool, so that a wrong URL or a missing schema is told at once and not after the pool's patience.
An operation marked `repeatable` is tried again when the connection broke under it: its outcome is then unknown, and it
is written so that doing it twice is the same as once.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import psycopg
from psycopg import errors as pg
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolTimeout

from howdah.db.catalog import Catalog
from howdah.db.connecting import complete_url, connect
from howdah.db.faults import explained, is_transient
from howdah.db.limits import within
from howdah.db.migrator import check_version, current_version, migrate
from howdah.db.op import Operation, perform, perform_async
from howdah.db.preparing import prepare_if_direct, prepare_if_direct_async
from howdah.db.readable import read_everything
from howdah.model.errors import ArgumentError, DatabaseUnavailable, TookTooLong

T = TypeVar("T")
_TRIES = 3
_PATIENCE = 10.0
# The pool reports each failed attempt at warning level; the caller gets one error instead.
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)


class Sessions:
    """Runs operations for client code, blocking and async."""

    def __init__(self, url: Callable[[], str], catalog: Catalog, *, size: int, may_migrate: bool) -> None:
        self.catalog = catalog
        self._find_url = url
        self._size = size
        self._may_migrate = may_migrate
        self._lock = threading.Lock()
        self._url: str | None = None
        self._pid = os.getpid()
        self._pool: ConnectionPool[psycopg.Connection[Any]] | None = None
        self._async_pools: dict[asyncio.AbstractEventLoop, AsyncConnectionPool[psycopg.AsyncConnection[Any]]] = {}

    def url(self) -> str:
        """Where the database is, once its schema has been found to fit this code."""
        with self._lock:
            if self._url is None:
                url = self._find_url()
                with explained(), connect(url, "client") as connection:
                    version = current_version(connection, self.catalog)
                    if self._may_migrate and (version is None or version.number < self.catalog.version):
                        migrate(connection, self.catalog)
                        version = current_version(connection, self.catalog)
                    check_version(version, self.catalog)
                self._url = url
            return self._url

    def run(
        self,
        make: Callable[[], Operation[T]],
        *,
        repeatable: bool = True,
        transaction: bool = False,
        limit: timedelta | None = None,
    ) -> T:
        """Run an operation on a connection of the pool. With a `limit` it may only read, and no statement takes longer:
        TookTooLong."""
        pool = self._open_pool()
        with explained():
            for tries in range(1, _TRIES + 1):
                try:
                    with pool.connection(timeout=_PATIENCE) as connection:
                        if transaction or limit is not None:
                            with connection.transaction():
                                return perform(connection, self.catalog, within(limit, make()))
                        return perform(connection, self.catalog, make())
                except PoolTimeout as error:
                    raise DatabaseUnavailable(f"no connection to the database within {_PATIENCE:.0f} s") from error
                except psycopg.Error as error:
                    if limit is not None and isinstance(error, pg.QueryCanceled):
                        raise TookTooLong from error
                    if not (repeatable and is_transient(error)) or tries == _TRIES:
                        raise
                    # After a restart of the server every idle connection is dead: replace them all, not one a try.
                    pool.check()
                    time.sleep(0.05 * tries)
            raise AssertionError("unreachable: the last try returns or raises")

    async def run_async(
        self,
        make: Callable[[], Operation[T]],
        *,
        repeatable: bool = True,
        transaction: bool = False,
        limit: timedelta | None = None,
    ) -> T:
        """Run an operation on a connection of this event loop's pool; otherwise the same as run."""
        pool = await self._open_async_pool()
        with explained():
            for tries in range(1, _TRIES + 1):
                try:
                    async with pool.connection(timeout=_PATIENCE) as connection:
                        if transaction or limit is not None:
                            async with connection.transaction():
                                return await perform_async(connection, self.catalog, within(limit, make()))
                        return await perform_async(connection, self.catalog, make())
                except PoolTimeout as error:
                    raise DatabaseUnavailable(f"no connection to the database within {_PATIENCE:.0f} s") from error
                except psycopg.Error as error:
                    if limit is not None and isinstance(error, pg.QueryCanceled):
                        raise TookTooLong from error
                    if not (repeatable and is_transient(error)) or tries == _TRIES:
                        raise
                    await pool.check()
                    await asyncio.sleep(0.05 * tries)
            raise AssertionError("unreachable: the last try returns or raises")

    def close(self) -> None:
        """Give back the connections of blocking code. The next use opens them again."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    async def close_async(self) -> None:
        """Give back the connections of this event loop as well."""
        pool = self._async_pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            await pool.close()
        await asyncio.to_thread(self.close)

    def _open_pool(self) -> ConnectionPool[psycopg.Connection[Any]]:
        url = self.url()
        with self._lock:
            if self._pid != os.getpid():
                # A fork took the pool along, but neither its threads nor the right to its connections: leave it be.
                self._pid, self._pool = os.getpid(), None
            if self._pool is None:
                self._pool = ConnectionPool(
                    complete_url(url, "client"),
                    min_size=0,
                    max_size=self._size,
                    kwargs=_OPTIONS,
                    configure=_configure,
                    open=True,
                )
            return self._pool

    async def _open_async_pool(self) -> AsyncConnectionPool[psycopg.AsyncConnection[Any]]:
        loop = asyncio.get_running_loop()
        if loop not in self._async_pools:
            for closed in [other for other in self._async_pools if other.is_closed()]:
                # Nobody can await its closing any more; letting go of it closes its sockets.
                self._async_pools.pop(closed, None)
            url = await asyncio.to_thread(self.url)
            pool: AsyncConnectionPool[psycopg.AsyncConnection[Any]] = AsyncConnectionPool(
                complete_url(url, "client"),
                min_size=0,
                max_size=self._size,
                kwargs=_OPTIONS,
                configure=_configure_async,
                open=False,
            )
            # Another task may have won while this one waited.
            pool = self._async_pools.setdefault(loop, pool)
            await pool.open()
        return self._async_pools[loop]


def _configure(connection: psycopg.Connection[Any]) -> None:
    read_everything(connection)
    prepare_if_direct(connection)


async def _configure_async(connection: psycopg.AsyncConnection[Any]) -> None:
    read_everything(connection)
    await prepare_if_direct_async(connection)


_OPTIONS: dict[str, Any] = {"autocommit": True, "prepare_threshold": None}


def run_on(connection: object, catalog: Catalog, operation: Operation[T]) -> T:
    """Run an operation on the caller's own blocking connection, inside whatever transaction it is in."""
    if isinstance(connection, psycopg.Connection):
        return perform(connection, catalog, operation)
    raise _wrong_connection(connection, "psycopg.Connection", "enqueue", "aenqueue")


async def run_on_async(connection: object, catalog: Catalog, operation: Operation[T]) -> T:
    """Run an operation on the caller's own async connection, inside whatever transaction it is in."""
    if isinstance(connection, psycopg.AsyncConnection):
        return await perform_async(connection, catalog, operation)
    raise _wrong_connection(connection, "psycopg.AsyncConnection", "aenqueue", "enqueue")


def _wrong_connection(connection: object, wanted: str, here: str, other: str) -> ArgumentError:
    kind = f"{type(connection).__module__}.{type(connection).__qualname__}"
    return ArgumentError(f"conn= is a {kind}; {here} takes a {wanted} (for the other kind use {other})")
