"""`howdah roles`: made once, renewed by every migration, refused in one line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from howdah.db import catalog as catalogs
from howdah.db import roles
from howdah.db.catalog import ROLES, Catalog
from howdah.db.migrator import migrate
from tests.cli.conftest import Shell
from tests.rig.servers import TestServer
from tests.security.conftest import OWNER, Secured
from tests.security.manifest import PRODUCER

Sql = psycopg.Connection[Any]
PLAIN = "may_nothing"


class Plain:
    """A database whose schema `mine` belongs to a role without CREATEROLE, and no roles in sight."""

    def __init__(self, server: TestServer) -> None:
        self.server = server
        self.name = server.create_database("template1")
        self.url = server.embedded.url(self.name)
        self.owner_url = self.url.replace("://howdah@", f"://{PLAIN}@")
        self.execute(f"DO $$ BEGIN IF to_regrole('{PLAIN}') IS NULL THEN CREATE ROLE {PLAIN} LOGIN; END IF; END $$")
        self.execute(f"GRANT CREATE ON DATABASE {self.name} TO {PLAIN}")
        with psycopg.connect(self.owner_url, autocommit=True) as connection:
            migrate(connection, Catalog("mine"))

    def execute(self, statement: str) -> list[Any]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description is not None else []

    def drop(self) -> None:
        for kind in ROLES:
            role = f"mine_{kind}"
            if self.execute(f"SELECT to_regrole('{role}')") != [(None,)]:
                self.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")
        self.server.drop_database(self.name)


@pytest.fixture
def plain(server: TestServer) -> Iterator[Plain]:
    made = Plain(server)
    yield made
    made.drop()


@pytest.fixture
def howdah(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def settings(sql: Sql, schema: str = "howdah") -> list[Any]:
    """All that the step decides: rights, definers and pins."""
    return sql.execute(
        "SELECT 'f', proname::text, proacl::text, prosecdef::text, proconfig::text FROM pg_proc"
        " WHERE pronamespace = %(schema)s::regnamespace"
        " UNION ALL SELECT 'r', relname::text, relacl::text, NULL, NULL FROM pg_class"
        " WHERE relnamespace = %(schema)s::regnamespace"
        " UNION ALL SELECT 'c', attrelid::regclass::text || '.' || attname, attacl::text, NULL, NULL"
        " FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid"
        " WHERE relnamespace = %(schema)s::regnamespace AND attacl IS NOT NULL ORDER BY 1, 2",
        {"schema": schema},
    ).fetchall()


def test_once_and_again(secured: Secured, howdah: Shell) -> None:
    with secured.connect() as sql:
        before = settings(sql)
        again = howdah("roles", "--url", secured.url(OWNER), "--json").must_work().json
        assert again["created"] == []
        assert sorted(again["roles"]) == sorted(f"howdah_{kind}" for kind in ROLES)
        assert settings(sql) == before
        sql.execute(
            "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA howdah TO PUBLIC; GRANT ALL ON howdah.jobs TO howdah_reader"
        )
        sql.execute("ALTER FUNCTION howdah.cancel_job SECURITY INVOKER RESET ALL")
        assert "renewed" in howdah("roles", "--url", secured.url(OWNER)).must_work().out
        assert settings(sql) == before


def test_the_printed_sql_does_the_same(secured: Secured, howdah: Shell) -> None:
    script = howdah("roles", "--sql").must_work().out
    with secured.connect() as sql, secured.connect(OWNER) as owner:
        before = settings(sql)
        owner.execute("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA howdah TO PUBLIC")
        owner.execute(script.encode())
        assert settings(sql) == before
    howdah("roles", "--sql", "--json").must_be_refused("--sql does not go with --json")


def test_a_schema_of_another_name_has_roles_of_another_name(plain: Plain, howdah: Shell) -> None:
    first = howdah("roles", "--url", plain.url, "--schema", "mine").must_work()
    assert "mine_payload_reader  created" in first.out
    assert first.err == "", "the owner of the tables counts, not whoever runs the command"
    assert "howdah" not in first.out
    plain.execute("CREATE TABLE public.kept ()")
    rows = plain.execute("SELECT has_schema_privilege('mine_worker', 'mine', 'USAGE')")
    assert rows == [(True,)]
    # From now on the owner needs no right to create roles.
    assert "renewed" in howdah("roles", "--url", plain.owner_url, "--schema", "mine").must_work().out


def test_odd_names(howdah: Shell) -> None:
    script = howdah("roles", "--sql", "--schema", 'My "own" one').must_work().out
    assert 'GRANT USAGE ON SCHEMA "My ""own"" one" TO "My ""own"" one_producer"' in script
    assert "howdah." not in script
    howdah("roles", "--sql", "--schema", "x" * 60).must_be_refused("too long", "over 63 bytes")


def test_without_the_right_to_create_roles(plain: Plain, howdah: Shell) -> None:
    def ask() -> Any:
        return howdah("roles", "--url", plain.owner_url, "--schema", "mine")

    ask().must_be_refused(f"role {PLAIN} may not create roles", "CREATEROLE", "mine_producer")
    assert plain.execute("SELECT count(*) FROM pg_roles WHERE rolname LIKE 'mine%'") == [(0,)]
    # An administrator may make them beforehand.
    for kind in ROLES:
        plain.execute(f"CREATE ROLE mine_{kind}")
    ask().must_work()
    plain.execute(f"GRANT mine_worker TO {PLAIN}")
    ask().must_work()


@pytest.mark.parametrize(
    ("making", "word"),
    [
        ("CREATE ROLE mine_worker LOGIN", "can log in"),
        ("CREATE ROLE mine_worker CREATEDB", "has powers of its own"),
        ("CREATE ROLE mine_worker IN ROLE pg_monitor", "is a member of another role"),
        (f"CREATE ROLE mine_worker ROLE {PLAIN}", "has members already"),
    ],
)
def test_a_name_that_is_taken(plain: Plain, howdah: Shell, making: str, word: str) -> None:
    plain.execute(making)
    refused = howdah("roles", "--url", plain.url, "--schema", "mine")
    refused.must_be_refused("role mine_worker exists", word, "not Howdah's")
    assert plain.execute("SELECT to_regrole('mine_producer')") == [(None,)]


def test_others_tables(plain: Plain, secured: Secured, howdah: Shell) -> None:
    howdah("roles", "--url", secured.url(PRODUCER)).must_be_refused(f"the tables belong to role {OWNER}")
    plain.execute("CREATE FUNCTION mine.strange() RETURNS int LANGUAGE sql AS 'SELECT 1'")
    howdah("roles", "--url", plain.url, "--schema", "mine").must_be_refused("1 objects in the schema do not belong")


def test_no_tables(plain: Plain, howdah: Shell) -> None:
    howdah("roles", "--url", plain.url).must_be_refused("run `howdah migrate`")


def test_a_superusers_tables_are_remarked_upon(server: TestServer, howdah: Shell) -> None:
    name = server.create_database()
    try:
        said = howdah("roles", "--url", server.embedded.url(name)).must_work()
        assert "a superuser" in said.err
    finally:
        server.drop_database(name)


@pytest.mark.parametrize("who", [OWNER, None], ids=["owner", "superuser"])
def test_a_migration_renews_the_rights(secured: Secured, monkeypatch: pytest.MonkeyPatch, who: str | None) -> None:
    """A later migration replaces one function and adds another: neither is left open, and both are the owner's, even if
    a superuser ran it."""
    later = (
        "CREATE OR REPLACE FUNCTION howdah.pause(p_kind text, p_name text) RETURNS boolean LANGUAGE sql VOLATILE AS"
        " $$ SELECT true $$;"
        "CREATE FUNCTION howdah.added() RETURNS int LANGUAGE sql AS 'SELECT 1';"
    )
    known = catalogs._migrations()
    monkeypatch.setattr(catalogs, "_migrations", lambda: (*known, (len(known) + 1, "later", later)))
    with secured.connect(who) as sql:
        before = settings(sql)
        assert [step.name for step in migrate(sql, Catalog())] == ["later"]
        added = [row for row in settings(sql) if row not in before]
        assert added == [("f", "added", f"{{{OWNER}=X/{OWNER}}}", "false", None)]


def test_without_roles_a_migration_gives_no_rights(plain: Plain) -> None:
    with psycopg.connect(plain.owner_url, autocommit=True) as owner:
        assert {row[2] for row in settings(owner, "mine")} == {None}
        with owner.transaction():
            assert not roles.become_owner(owner, Catalog("mine"))
