"""The proxy, in front of a real server: each fault does what it says, to the port that it was told."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.conftest import Database
from tests.rig.servers import TestServer
from tests.rig.waiting import until
from torture.network import Network, free_ports

Sql = psycopg.Connection[Any]


@pytest.fixture
def network(server: TestServer) -> Iterator[Network]:
    # A socket's path must be short.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        socket = Path(server.socket_dir) / ".s.PGSQL.5432"
        found = Network(Path(folder), dict.fromkeys(free_ports(2), socket))
        yield found
        found.close()


def connect(network: Network, database: Database, place: int = 0) -> Sql:
    url = f"postgresql://howdah@127.0.0.1:{network.ports[place]}/{database.name}?sslmode=disable&gssencmode=disable"
    return psycopg.connect(url, autocommit=True, connect_timeout=5)


class Asking(threading.Thread):
    """A question whose answer may never come."""

    def __init__(self, connection: Sql, query: str) -> None:
        super().__init__(daemon=True)
        self._connection = connection
        self._query = query
        self.answer: Any = None
        self.error: psycopg.Error | None = None

    def run(self) -> None:
        try:
            self.answer = self._connection.execute(self._query.encode()).fetchone()
        except psycopg.Error as error:
            self.error = error


def ask(connection: Sql, query: str = "SELECT 1") -> Asking:
    asking = Asking(connection, query)
    asking.start()
    return asking


def count(sql: Sql) -> int:
    row = sql.execute("SELECT count(*) FROM jobs").fetchone()
    assert row is not None
    return int(row[0])


INSERT = "INSERT INTO howdah.jobs (job_type) VALUES ('plain') RETURNING 1"


@pytest.mark.parametrize("fault", ["cut", "reset"])
def test_connections_of_one_port_are_ended(network: Network, database: Database, fault: str) -> None:
    with connect(network, database) as hit, connect(network, database, place=1) as spared:
        assert network.order(fault, network.ports[0]) == {"hit": 1}
        with pytest.raises(psycopg.OperationalError):
            hit.execute("SELECT 1")
        assert spared.execute("SELECT 1").fetchone() == (1,)
        with connect(network, database) as again:
            assert again.execute("SELECT 1").fetchone() == (1,)


def test_a_black_hole_swallows_requests(network: Network, database: Database, sql: Sql) -> None:
    hit = connect(network, database)
    network.order("black_hole", network.ports[0])
    asking = ask(hit, INSERT)
    # Another question through the sound port, as a measure of time.
    with connect(network, database, place=1) as spared:
        assert spared.execute("SELECT pg_sleep(0.5)") is not None
    assert (asking.answer, asking.error, count(sql)) == (None, None, 0)
    network.heal()
    asking.join(20)
    assert asking.error is not None
    assert count(sql) == 0


def test_half_open_lets_requests_through_and_swallows_replies(network: Network, database: Database, sql: Sql) -> None:
    hit = connect(network, database)
    network.order("half_open", network.ports[0])
    asking = ask(hit, INSERT)
    until(lambda: count(sql) == 1, "the server has done it")
    assert (asking.answer, asking.error) == (None, None)
    network.heal()
    asking.join(20)
    assert asking.error is not None


@pytest.mark.parametrize("fault", ["slow", "throttle"])
def test_slow_is_slow_and_whole(network: Network, database: Database, fault: str) -> None:
    query = "SELECT repeat('x', 20000)"
    with connect(network, database) as hit:
        hit.execute(query)
        began = time.monotonic()
        fast = hit.execute(query).fetchone()
        sound = time.monotonic() - began
        network.order(fault, network.ports[0])
        began = time.monotonic()
        assert hit.execute(query).fetchone() == fast
        assert time.monotonic() - began > sound
        network.heal()
        assert hit.execute(query).fetchone() == fast


def test_the_reply_to_a_commit_is_dropped_after_the_server_has_committed(
    network: Network, database: Database, sql: Sql
) -> None:
    with connect(network, database) as hit:
        network.order("arm", network.ports[0], word="INSERT INTO")
        assert hit.execute("SELECT 1").fetchone() == (1,), "only the statement with the word is meant"
        with pytest.raises(psycopg.OperationalError):
            hit.execute(INSERT)
    assert count(sql) == 1
    assert network.dropped() == 1
    with connect(network, database) as again:
        again.execute(INSERT)
    assert (count(sql), network.dropped()) == (2, 1)


def test_a_statement_inside_a_transaction_is_dropped_with_its_commit(
    network: Network, database: Database, sql: Sql
) -> None:
    hit = connect(network, database)
    network.order("arm", network.ports[0], word="INSERT INTO")

    def enqueue() -> None:
        with hit.transaction():
            hit.execute(INSERT)
            assert hit.execute("SELECT 1").fetchone() == (1,)

    with pytest.raises(psycopg.OperationalError):
        enqueue()
    assert (count(sql), network.dropped()) == (1, 1)
