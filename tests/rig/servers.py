"""PostgreSQL servers that the test run starts itself, and databases cloned from a migrated template."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from howdah.db.catalog import Catalog
from howdah.db.migrator import migrate
from howdah.embedded.binaries import Binaries
from howdah.embedded.server import EmbeddedServer, ServerSettings

TEMPLATE = "howdah_template"


class TestServer:
    """One server of this test process; its databases are clones of a migrated template."""

    __test__ = False

    def __init__(self, binaries: Binaries, *, durable: bool = False) -> None:
        # Reachable for the account that the server runs as, unlike pytest's own folders when run as root.
        self.folder = Path(tempfile.mkdtemp(prefix="howdah-test-", dir="/var/tmp"))
        self.folder.chmod(0o755)
        settings = {"max_connections": "200", "shared_buffers": "128MB", "autovacuum_naptime": "5s"}
        self.embedded = EmbeddedServer(
            self.folder, binaries=binaries, settings=ServerSettings(postgres=settings, durable=durable)
        )
        self.embedded.acquire()
        self._numbers = itertools.count(1)
        with self.admin() as connection:
            connection.execute(f"CREATE DATABASE {TEMPLATE}".encode())
        with psycopg.connect(self.embedded.url(TEMPLATE), autocommit=True) as connection:
            migrate(connection, Catalog())

    @property
    def socket_dir(self) -> str:
        return str(conninfo_to_dict(self.embedded.url())["host"])

    def admin(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(self.embedded.url("postgres"), autocommit=True)

    def create_database(self, template: str = TEMPLATE) -> str:
        name = f"test_{os.getpid()}_{next(self._numbers)}"
        with self.admin() as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())
        return name

    def drop_database(self, name: str) -> None:
        with self.admin() as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())

    def close(self) -> None:
        self.embedded.stop()
        self.embedded.release()
        shutil.rmtree(self.folder, ignore_errors=True)
