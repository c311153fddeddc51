"""Migrations: from several processes at once, while workers run, as a script, and refused when they do not fit."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from howdah import Howdah, SchemaMissing, SchemaTooNew, SchemaTooOld
from howdah.db.catalog import Catalog
from howdah.db.migrator import current_version, migrate, script
from tests.conftest import Database
from tests.rig.servers import TestServer
from tests.rig.working import working

Sql = psycopg.Connection[Any]
SHAPE = """
    SELECT c.relname, c.relkind::text, c.reloptions, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
    WHERE n.nspname = %s ORDER BY 1, 4
"""
BODIES = """
    SELECT p.proname, pg_get_function_arguments(p.oid), replace(p.prosrc, quote_ident(%s), 'S'), p.proconfig
    FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE n.nspname = %s ORDER BY 1, 2
"""


def number_of(connection: Sql) -> int | None:
    """The version of the schema."""
    found = current_version(connection, Catalog())
    return found.number if found is not None else None


@pytest.fixture
def empty(server: TestServer) -> Iterator[str]:
    name = server.create_database(template="template1")
    yield server.embedded.url(name)
    server.drop_database(name)


def test_eight_at_once_apply_each_migration_once(empty: str) -> None:
    applied: list[str] = []
    start = threading.Barrier(8)

    def run() -> None:
        with psycopg.connect(empty, autocommit=True) as connection:
            start.wait()
            applied.extend(migration.name for migration in migrate(connection, Catalog()))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(applied) == sorted(migration.name for migration in Catalog().migrations())


def test_a_migration_that_fails_leaves_nothing_half_done(empty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from howdah.db import catalog as module

    texts = module._migrations()
    broken = (*texts[:2], (3, "broken", "CREATE TABLE howdah.half (); SELECT 1 / 0;"))
    monkeypatch.setattr(module, "_migrations", lambda: broken)
    with psycopg.connect(empty, autocommit=True) as connection:
        with pytest.raises(psycopg.errors.DivisionByZero):
            migrate(connection, Catalog())
        assert number_of(connection) == 2
        assert connection.execute("SELECT to_regclass('howdah.half')").fetchone() == (None,)
        monkeypatch.undo()
        migrate(connection, Catalog())
        assert number_of(connection) == Catalog().version


def test_the_printed_script_makes_the_same_schema(database: Database, empty: str) -> None:
    with psycopg.connect(empty, autocommit=True) as by_hand, database.connect() as migrated:
        by_hand.execute("".join(script(Catalog())).encode())
        assert number_of(by_hand) == Catalog().version
        for query, parameters in ((SHAPE, ["howdah"]), (BODIES, ["howdah", "howdah"])):
            ours = migrated.execute(query.encode(), parameters).fetchall()
            assert ours == by_hand.execute(query.encode(), parameters).fetchall()
            assert len(ours) > 20


async def test_another_schema_name_beside_the_first(database: Database) -> None:
    odd = 'odd "schema" name'
    with database.connect() as connection:
        migrate(connection, Catalog(odd))
    app, usual = Howdah(database.url, schema=odd), Howdah(database.url)

    @app.job()
    async def work(n: int) -> int:
        return n

    async with working(app):
        job = await work.aenqueue(3)
        assert (await job.await_(30)).result == 3
    with database.connect() as connection:
        assert connection.execute("SELECT count(*) FROM howdah.jobs").fetchone() == (0,)
        assert connection.execute('SELECT count(*) FROM "odd ""schema"" name".jobs').fetchone() == (1,)
    usual.close()


def test_code_refuses_a_schema_that_is_missing_too_old_or_too_new(database: Database, empty: str, sql: Sql) -> None:
    from uuid import uuid4

    with pytest.raises(SchemaMissing, match="howdah migrate"):
        Howdah(empty).get(uuid4())
    sql.execute("INSERT INTO migrations (version, name) VALUES (9999, 'future')")
    with pytest.raises(SchemaTooNew, match="upgrade the howdah package"):
        Howdah(database.url).get(uuid4())
    sql.execute("DELETE FROM migrations WHERE version > 3")
    with pytest.raises(SchemaTooOld, match="howdah migrate"):
        Howdah(database.url).get(uuid4())


@pytest.mark.parametrize(("oldest", "served"), [(0, True), (1, False)])
def test_older_code_uses_a_newer_schema_that_still_serves_it(
    database: Database, sql: Sql, oldest: int, served: bool
) -> None:
    # A rolling deploy: migrated first, and a process of the older code starts again before it is replaced.
    later = "INSERT INTO migrations (version, name, oldest_code) VALUES (9999, 'future', %s)"
    sql.execute(later, [Catalog().version + oldest])
    app = Howdah(database.url)

    @app.job
    def work() -> None: ...

    try:
        if served:
            assert work.enqueue().status == "pending"
        else:
            with pytest.raises(SchemaTooNew, match="upgrade the howdah package"):
                work.enqueue()
    finally:
        app.close()


async def test_migrating_again_while_workers_run_disturbs_nobody(app: Howdah, database: Database) -> None:
    @app.job()
    async def work(n: int) -> int:
        return n

    async with working(app):
        jobs = await work.aenqueue_many([{"n": n} for n in range(2000)])
        with database.connect() as connection:
            for _ in range(20):
                assert migrate(connection, Catalog()) == []
        for job in jobs[-5:]:
            assert (await job.await_(60)).status == "completed"
    await app.aclose()
