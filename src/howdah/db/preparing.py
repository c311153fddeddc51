"""Whether a connection may keep prepared statements.

A prepared statement belongs to a server process. Behind a pooler in transaction mode the next transaction may meet
another one, where the same name is unknown or, worse, another client's. A pooler gives its clients cancellation keys of
its own, so the process number in the key tells: if it is that of the process that answers, nobody stands between.
"""

from __future__ import annotations

from typing import Any

import psycopg

from howdah.db.catalog import Catalog

#: A statement is prepared when it is executed for the third time.
_THRESHOLD = 2
_READ_BACKEND = Catalog().text("db/read_backend")


def prepare_if_direct(connection: psycopg.Connection[Any]) -> None:
    """Let the connection prepare its statements unless a pooler stands before the server."""
    row = connection.execute(_READ_BACKEND).fetchone()
    connection.prepare_threshold = _THRESHOLD if row == (connection.info.backend_pid,) else None


async def prepare_if_direct_async(connection: psycopg.AsyncConnection[Any]) -> None:
    """Let the connection prepare its statements unless a pooler stands before the server."""
    row = await (await connection.execute(_READ_BACKEND)).fetchone()
    connection.prepare_threshold = _THRESHOLD if row == (connection.info.backend_pid,) else None
