"""The PostgreSQL under test: durable commits, killed and started again."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from howdah.db.catalog import Catalog
from howdah.db.migrator import migrate
from howdah.embedded.binaries import Binaries
from howdah.embedded.server import EmbeddedServer, ServerSettings
from howdah.model.errors import EmbeddedError

#: A deadlock shall be seen, not waited out.
_POSTGRES = {"max_connections": "200", "deadlock_timeout": "100ms", "log_lock_waits": "on"}
_BACK_SECONDS = 60.0
_HISTORY = Path(__file__).with_name("history.sql")


class Server:
    """One server in a folder of its own."""

    def __init__(self, binaries: Binaries | None = None) -> None:
        # Reachable for the account that the server runs as.
        self.folder = Path(tempfile.mkdtemp(prefix="howdah-torture-", dir="/var/tmp"))
        self.folder.chmod(0o755)
        self._embedded = EmbeddedServer(self.folder, binaries=binaries, settings=ServerSettings(postgres=_POSTGRES))
        self.url = self._embedded.acquire()
        with self.connect() as connection:
            migrate(connection, Catalog())
            connection.execute(_HISTORY.read_bytes())
            row = connection.execute("SHOW server_version").fetchone()
        self.version = str(row[0]) if row else "?"

    @property
    def socket(self) -> Path:
        """Its socket file."""
        return Path(str(conninfo_to_dict(self.url)["host"])) / ".s.PGSQL.5432"

    @property
    def log(self) -> Path:
        """What it logs."""
        return Path(self._embedded.status().log)

    def connect(self) -> psycopg.Connection[Any]:
        """Straight to it, past the proxy."""
        return psycopg.connect(self.url, autocommit=True, application_name="torture", connect_timeout=10)

    def crash(self, *, politely: bool) -> float:
        """Kill it without a checkpoint: kill -9, or an immediate stop. Seconds until it answers again."""
        status = self._embedded.status()
        begin = time.monotonic()
        if status.pid is not None:
            os.kill(status.pid, signal.SIGQUIT if politely else signal.SIGKILL)
        while True:
            self._embedded.restart_if_dead()
            try:
                self.connect().close()
            except psycopg.OperationalError:
                pass
            else:
                if self._embedded.status().pid != status.pid:
                    return time.monotonic() - begin
            if time.monotonic() > begin + _BACK_SECONDS:
                raise RuntimeError(f"PostgreSQL did not come back; see {self.log}")
            time.sleep(0.05)

    def terminate_backend(self, draw: float) -> str | None:
        """End one backend of the system under test; whose it was."""
        with self.connect() as connection:
            found = connection.execute(
                "SELECT pid, application_name FROM pg_stat_activity"
                " WHERE application_name LIKE 'howdah%' AND backend_type = 'client backend' ORDER BY pid"
            ).fetchall()
            if not found:
                return None
            pid, name = found[int(draw * len(found))]
            row = connection.execute("SELECT pg_terminate_backend(%s)", [pid]).fetchone()
            return str(name) if row and row[0] else None

    def close(self) -> None:
        """Stop it and remove its folder."""
        with contextlib.suppress(OSError, subprocess.SubprocessError, EmbeddedError):
            self._embedded.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
