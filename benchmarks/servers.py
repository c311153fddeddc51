"""The servers that are measured on: one PostgreSQL for all, one Redis for those that need it; both private."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
from psycopg import sql

from benchmarks.processes import Failure
from howdah.embedded.server import EmbeddedServer, ServerSettings

POSTGRES_SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "shared_buffers": "256MB",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "15min",
    "max_connections": "300",
}
REDIS_SETTINGS = {
    "save": "3600 1 300 100 60 10000",
    "appendonly": "no",
}
"""What redis-server does by default: snapshots now and then, no append-only file, so nothing waits for the disk."""


class Postgres:
    """The one server; every measurement gets a database of its own."""

    def __init__(self, folder: Path) -> None:
        folder.chmod(0o755)  # a server started by root runs as another account
        self._server = EmbeddedServer(folder, settings=ServerSettings(postgres=POSTGRES_SETTINGS))
        self._url = self._server.acquire()

    def version(self) -> str:
        with psycopg.connect(self._url) as connection:
            row = connection.execute("SHOW server_version").fetchone()
        return str(row[0]) if row else "?"

    @contextlib.contextmanager
    def database(self, name: str) -> Iterator[str]:
        """A fresh database, behind a checkpoint so that nobody pays for his predecessor's writes."""
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
            connection.execute("CHECKPOINT")
            try:
                yield self._server.url(name)
            finally:
                connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def stop(self) -> None:
        self._server.stop()


class Redis:
    """A server on a free port, emptied before every measurement."""

    def __init__(self, folder: Path) -> None:
        program = shutil.which("redis-server")
        if program is None:
            raise Failure("redis-server is not installed (apt-get install redis-server)")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        options = [word for name, value in REDIS_SETTINGS.items() for word in (f"--{name}", value)]
        command = [program, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(folder), *options]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._await_start()

    def _await_start(self) -> None:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.05)
        raise Failure("redis-server does not answer")

    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @contextlib.contextmanager
    def database(self) -> Iterator[str]:
        with socket.create_connection(("127.0.0.1", self.port), 5) as wire:
            wire.sendall(b"FLUSHALL\r\n")
            wire.recv(64)
        yield self.url()

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(10)


def redis_version() -> str:
    program = shutil.which("redis-server")
    if program is None:
        return "missing"
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    return next((word[2:] for word in said.split() if word.startswith("v=")), "?")


def scratch() -> Path:
    """A folder on a real disk: where /tmp is memory, an fsync costs nothing and proves nothing."""
    parent = "/var/tmp" if os.path.isdir("/var/tmp") else None  # noqa: S108 - what we put there is made by mkdtemp
    return Path(tempfile.mkdtemp(prefix="howdah-benchmarks-", dir=parent))


def memory_folder() -> str | None:
    """Where tallies go: in memory if there is such a place, so that they never wait for PostgreSQL's disk."""
    return "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108 - only a parent: tallies get fresh names
