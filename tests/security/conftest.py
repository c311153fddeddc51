"""A database with roles: its tables belong to a role that is no superuser, and somebody of each role can log in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from howdah.db import roles
from howdah.db.catalog import Catalog
from howdah.db.migrator import migrate
from tests.rig.servers import TestServer
from tests.security.manifest import NOBODY, TRIED

TEMPLATE = "secured_template"
OWNER = "tables_owner"
_ready: set[int] = set()


@dataclass(frozen=True)
class Secured:
    """A migrated database with roles. Who: a kind of role, or OWNER; without, the server's superuser."""

    name: str
    superuser_url: str

    def url(self, who: str | None = None) -> str:
        if who is None:
            return self.superuser_url
        return self.superuser_url.replace("://howdah@", f"://{login(who)}@")

    def connect(self, who: str | None = None) -> psycopg.Connection[Any]:
        return psycopg.connect(self.url(who), autocommit=True)


def login(who: str) -> str:
    """The role that logs in."""
    return who if who == OWNER else f"some_{who}"


@pytest.fixture
def secured(server: TestServer) -> Iterator[Secured]:
    if id(server) not in _ready:
        make_template(server)
        _ready.add(id(server))
    name = server.create_database(TEMPLATE)
    yield Secured(name, server.embedded.url(name))
    server.drop_database(name)


def make_template(server: TestServer) -> None:
    with server.admin() as connection:
        connection.execute(f"CREATE ROLE {OWNER} LOGIN CREATEROLE".encode())
        connection.execute(f"CREATE DATABASE {TEMPLATE} OWNER {OWNER}".encode())
    template = Secured(TEMPLATE, server.embedded.url(TEMPLATE))
    with template.connect(OWNER) as connection:
        migrate(connection, Catalog())
        done = roles.set_up(connection, Catalog())
        assert not done.owner_is_superuser
    with server.admin() as connection:
        for who in TRIED:
            member = "" if who == NOBODY else f" IN ROLE howdah_{who}"
            connection.execute(f"CREATE ROLE {login(who)} LOGIN{member}".encode())
