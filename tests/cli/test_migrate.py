from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from howdah.db.catalog import Catalog
from tests.cli.conftest import Shell
from tests.conftest import Database
from tests.rig.servers import TestServer

VERSION = Catalog().version


@pytest.fixture
def empty(server: TestServer) -> Iterator[str]:
    """The URL of a database without Howdah's tables."""
    name = server.create_database(template="template1")
    yield server.embedded.url(name)
    server.drop_database(name)


def test_migrate_once_and_again(nowhere: Shell, empty: str) -> None:
    missing = nowhere("migrate", "--check", "--url", empty)
    assert (missing.code, missing.out) == (1, "")
    assert missing.err.startswith("howdah: ")
    assert "run `howdah migrate`" in missing.err
    first = nowhere("migrate", "--url", empty).must_work()
    assert "applied 0001 ledger_and_lines" in first.out
    assert first.out.endswith(f"the schema is at version {VERSION}\n")
    again = nowhere("migrate", "--url", empty, "--json").must_work()
    assert again.json == {"version": VERSION, "applied": []}
    assert nowhere("migrate", "--check", "--url", empty).must_work().err == ""


def test_another_schema(nowhere: Shell, empty: str) -> None:
    applied = nowhere("migrate", "--url", empty, "--schema", "Other One", "--json").must_work().json["applied"]
    assert [step["version"] for step in applied] == list(range(1, VERSION + 1))
    nowhere("migrate", "--check", "--url", empty, "--schema", "Other One").must_work()
    assert nowhere("migrate", "--check", "--url", empty).code == 1
    nowhere("ls", "--url", empty, "--schema", "Other One").must_work()


def test_sql_is_printed_and_makes_the_same_schema(nowhere: Shell, empty: str) -> None:
    script = nowhere("migrate", "--sql").must_work().out
    with psycopg.connect(empty, autocommit=True) as connection:
        connection.execute(script.encode())
    assert nowhere("migrate", "--check", "--url", empty, "--json").must_work().json["fits"] is True
    assert '"mine".jobs' in nowhere("migrate", "--sql", "--schema", "mine").must_work().out
    nowhere("migrate", "--sql", "--check").must_be_refused("--sql goes with neither")


def test_too_old_and_too_new(howdah: Shell, database: Database) -> None:
    with database.connect() as connection:
        connection.execute("DELETE FROM migrations WHERE version = %s", (VERSION,))
    howdah("ls").must_be_refused("run `howdah migrate`", f"needs {VERSION}")
    assert howdah("migrate", "--check").code == 1
    with database.connect() as connection:
        connection.execute("INSERT INTO migrations (version, name) VALUES (%s, 'from_the_future')", (VERSION + 90,))
    for command in (["ls"], ["migrate"], ["worker", "jobs:app"]):
        howdah(*command).must_be_refused("upgrade the howdah package")
    newer = howdah("migrate", "--check", "--json")
    assert newer.code == 1
    assert newer.json["fits"] is False
    assert "upgrade" in newer.json["problem"]


def test_a_missing_schema_stops_everything_at_once(nowhere: Shell, empty: str) -> None:
    nowhere.environment["HOWDAH_URL"] = empty
    for command in (["ls"], ["pause", "x"], ["worker", "jobs:app"], ["enqueue", "jobs:app", "broken"]):
        nowhere(*command).must_be_refused("run `howdah migrate`")
