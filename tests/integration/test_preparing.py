"""Prepared statements: where the server is met directly, and never behind a pooler."""

from __future__ import annotations

import psycopg

from howdah import Howdah
from howdah.db.connecting import connect, connect_async
from tests.conftest import Database


def test_blocking_connections_prepare_only_without_a_pooler(database: Database) -> None:
    with connect(database.url, "test") as connection:
        assert (connection.prepare_threshold is None) == (database.route == "pgbouncer")
    with connect(database.direct_url, "test") as connection:
        assert connection.prepare_threshold is not None


async def test_async_connections_prepare_only_without_a_pooler(database: Database) -> None:
    async with await connect_async(database.url, "test") as connection:
        assert (connection.prepare_threshold is None) == (database.route == "pgbouncer")


def test_the_client_prepares_what_it_repeats(app: Howdah, database: Database) -> None:
    @app.job()
    async def often(n: int) -> None: ...

    for n in range(5):
        often.enqueue(n)
    with app.sessions._open_pool().connection() as connection:
        prepared = psycopg.Connection.execute(connection, "SELECT count(*) FROM pg_prepared_statements").fetchone()
    assert prepared is not None
    assert (prepared[0] > 0) == (database.route != "pgbouncer")
