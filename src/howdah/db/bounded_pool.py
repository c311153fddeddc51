"""A few connections for people who look on and now and then change something: every operation in a transaction of its
own, with a time limit set inside it, so that it also holds behind a pooler in transaction mode.

Nothing is tried twice: a person sees the fault and asks again. A connection that cannot be made is given up soon, so
that an outage is told at once and its end is noticed at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import psycopg
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from howdah.db.bounded import driver_told
from howdah.db.connecting import complete_url
from howdah.db.limits import limit_time
from howdah.db.op import Operation, Statement, perform_async
from howdah.db.preparing import prepare_if_direct_async
from howdah.db.readable import read_everything
from howdah.db.sessions import Sessions
from howdah.model.errors import DatabaseUnavailable

T = TypeVar("T")
_PATIENCE = 3.0
#: While it is known to be away nobody needs to wait so long to hear it again.
_IMPATIENCE = 0.7


class BoundedPool:
    """Opened at the first use, one pool for each event loop."""

    def __init__(self, sessions: Sessions, role: str, size: int) -> None:
        self._sessions = sessions
        self._role = role
        self._size = size
        self._is_lost = False
        self._pools: dict[asyncio.AbstractEventLoop, AsyncConnectionPool[psycopg.AsyncConnection[Any]]] = {}

    async def look(self, make: Callable[[], Operation[T]], limit: timedelta) -> T:
        """Run an operation that reads; TookTooLong when one of its statements passes the limit."""
        return await self._run(make, limit_time(limit))

    async def change(self, make: Callable[[], Operation[T]], limit: timedelta) -> T:
        """Run an operation that writes, all of it or nothing."""
        return await self._run(make, _limit_change(limit))

    async def close(self) -> None:
        """Give back this event loop's connections; the next use opens them again."""
        pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            await pool.close()

    async def _run(self, make: Callable[[], Operation[T]], limiting: Operation[None]) -> T:
        pool = await self._opened()
        catalog = self._sessions.catalog
        with driver_told():
            try:
                async with pool.connection(_IMPATIENCE if self._is_lost else _PATIENCE) as connection:
                    self._is_lost = False
                    async with connection.transaction():
                        await perform_async(connection, catalog, limiting)
                        return await perform_async(connection, catalog, make())
            except PoolTimeout as error:
                self._is_lost = True
                raise DatabaseUnavailable(f"no connection to the database within {_PATIENCE:.0f} s") from error

    async def _opened(self) -> AsyncConnectionPool[psycopg.AsyncConnection[Any]]:
        loop = asyncio.get_running_loop()
        if loop not in self._pools:
            for closed in [other for other in self._pools if other.is_closed()]:
                # Nobody can await its closing any more; letting go of it closes its sockets.
                self._pools.pop(closed, None)
            url = await asyncio.to_thread(self._sessions.url)
            pool: AsyncConnectionPool[psycopg.AsyncConnection[Any]] = AsyncConnectionPool(
                complete_url(url, self._role),
                min_size=0,
                max_size=self._size,
                reconnect_timeout=_PATIENCE,
                # A connection that died while nobody looked is replaced before it is lent, not after it failed.
                check=AsyncConnectionPool.check_connection,
                kwargs={"autocommit": True, "prepare_threshold": None},
                configure=_configure,
                open=False,
            )
            # Another task may have won while this one waited.
            pool = self._pools.setdefault(loop, pool)
            await pool.open()
        return self._pools[loop]


async def _configure(connection: psycopg.AsyncConnection[Any]) -> None:
    read_everything(connection)
    await prepare_if_direct_async(connection)


def _limit_change(limit: timedelta) -> Operation[None]:
    milliseconds = max(1, int(limit / timedelta(milliseconds=1)))
    yield Statement("db/limit_change", {"milliseconds": str(milliseconds)})
