from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from howdah.admin.doctor.finding import Level
from howdah.admin.doctor.server import judge_server
from howdah.admin.doctor.store import Server
from howdah.db.catalog import Catalog
from howdah.model.errors import DatabaseUnavailable
from tests.conftest import Database
from tests.doctor.conftest import Diagnose
from tests.doctor.diagnosis import diagnose_url
from tests.doctor.far_server import far_away
from tests.programs import require
from tests.rig.servers import TestServer
from tests.rig.waiting import until
from torture.pooler import Pooler, find_pgbouncer

Connection = psycopg.Connection[Any]


def test_connection_says_where_it_leads(database: Database, diagnose: Diagnose) -> None:
    finding = diagnose()["connection"]
    assert finding.level is Level.OK
    assert database.name in finding.message
    assert "--url" in finding.message


def test_connection_to_a_far_server(server: TestServer, database: Database) -> None:
    with far_away(server.socket_dir, seconds=0.03) as folder:
        diagnosis = diagnose_url(make_conninfo(database.direct_url, host=folder))
    assert diagnosis.troubled == {"connection"}
    told = re.search(r"round trip (\d+)", diagnosis["connection"].message)
    assert told is not None
    assert int(told[1]) >= 60


def test_connection_to_nowhere() -> None:
    with pytest.raises(DatabaseUnavailable):
        diagnose_url("postgresql://nobody@127.0.0.1:1/nothing")


def test_server_that_is_read_only(database: Database, sql: Connection, diagnose: Diagnose) -> None:
    sql.execute(f"ALTER DATABASE {database.name} SET default_transaction_read_only = on".encode())
    diagnosis = diagnose()
    assert diagnosis.troubled == {"server"}
    assert diagnosis["server"].level is Level.FAIL
    assert "read-only" in diagnosis["server"].message


def test_server_that_is_ancient_or_a_standby() -> None:
    ancient = judge_server(Server(130011, "13.11", in_recovery=False, read_only=False))
    standby = judge_server(Server(180001, "18.1", in_recovery=True, read_only=False))
    assert ancient.level is standby.level is Level.FAIL
    assert "13.11 is too old" in ancient.message
    assert "standby" in standby.message


@pytest.fixture
def empty_url(server: TestServer) -> Iterator[str]:
    name = server.create_database(template="template1")
    yield server.embedded.url(name)
    server.drop_database(name)


def test_schema_that_is_missing(empty_url: str) -> None:
    diagnosis = diagnose_url(empty_url)
    assert diagnosis.troubled == {"schema"}
    assert diagnosis["schema"].level is Level.FAIL
    assert "howdah migrate" in str(diagnosis["schema"].next_step)
    assert "workers" not in {finding.check for finding in diagnosis.findings}


@pytest.mark.parametrize(("change", "word"), [(-1, "too old"), (1, "too new")])
def test_schema_of_another_version(sql: Connection, diagnose: Diagnose, change: int, word: str) -> None:
    sql.execute("DELETE FROM migrations")
    sql.execute("INSERT INTO migrations (version, name) VALUES (%s, 'other')", (Catalog().version + change,))
    diagnosis = diagnose()
    assert diagnosis.troubled == {"schema"}
    assert word in diagnosis["schema"].message


def test_autovacuum_disabled_on_a_table(sql: Connection, diagnose: Diagnose) -> None:
    sql.execute("ALTER TABLE ready SET (autovacuum_enabled = off)")
    diagnosis = diagnose()
    assert diagnosis.troubled == {"autovacuum"}
    assert diagnosis["autovacuum"].level is Level.FAIL
    assert "ready" in diagnosis["autovacuum"].message


def test_autovacuum_off_on_the_server(sql: Connection, diagnose: Diagnose) -> None:
    sql.execute("ALTER SYSTEM SET autovacuum = off")
    try:
        sql.execute("SELECT pg_reload_conf()")
        until(lambda: diagnose().troubled == {"autovacuum"}, "the doctor sees that autovacuum is off", 20)
    finally:
        sql.execute("ALTER SYSTEM RESET autovacuum")
        sql.execute("SELECT pg_reload_conf()")
    until(lambda: diagnose().troubled == set(), "the server has read its settings again", 20)


def test_durability(careful_url: str, diagnose: Diagnose) -> None:
    assert "fsync = off" in diagnose()["durability"].message
    assert diagnose_url(careful_url)["durability"].level is Level.OK
    lossy = diagnose_url(careful_url + "&options=-csynchronous_commit%3Doff")
    assert {finding.check for finding in lossy.findings if finding.level is not Level.OK} == {"durability"}
    assert lossy["durability"].level is Level.WARN
    assert "synchronous_commit = off" in lossy["durability"].message


def test_notifications_through_a_pooler(server: TestServer, database: Database) -> None:
    require(find_pgbouncer(), "pgbouncer")
    pooler = Pooler(server.socket_dir)
    try:
        diagnosis = diagnose_url(pooler.url(database.name), bell_patience=timedelta(seconds=0.5))
    finally:
        pooler.close()
    assert diagnosis.troubled == {"notifications"}
    assert diagnosis["notifications"].level is Level.WARN
    assert "polling covers it" in diagnosis["notifications"].message


def test_notifications_switched_off(sql: Connection, diagnose: Diagnose) -> None:
    assert "was heard" in diagnose()["notifications"].message
    sql.execute("UPDATE settings SET notify = false")
    assert "switched off" in diagnose()["notifications"].message


def test_notification_queue_that_fills(database: Database, sql: Connection, diagnose: Diagnose) -> None:
    with database.connect() as sleeper:
        sleeper.execute("LISTEN howdah")
        sleeper.execute("BEGIN")
        sleeper.execute("SELECT 1")
        sql.execute("SELECT pg_notify('howdah', repeat('x', 7000) || n) FROM generate_series(1, 60) AS n")
        diagnosis = diagnose(bell_queue=1e-5)
    assert diagnosis.troubled == {"notification-queue"}
    assert diagnosis["notification-queue"].level is Level.FAIL
