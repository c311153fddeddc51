"""The database under test: a server; where a tier wants failovers, its synchronous standby too; where it wants full
disks, on a small one of its own. Whoever is in charge is reached by one path, as through a virtual address."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg

from howdah.db.catalog import Catalog
from howdah.db.migrator import migrate
from torture.code import Code
from torture.disk import SmallDisk
from torture.server import Server

_HISTORY = Path(__file__).with_name("history.sql")
_STANDBY_SECONDS = 60.0
_MIGRATING_SECONDS = 60.0
_IN_STEP = "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync')"
_MOST_SWITCHES = 20


class Database:
    """Migrated by `code`, with the rig's history on top."""

    def __init__(self, code: Code, *, standby: bool = False, disk_megabytes: int = 0) -> None:
        # Reachable for the account that the server runs as.
        self.folder = Path(tempfile.mkdtemp(prefix="howdah-torture-", dir="/var/tmp"))
        self.folder.chmod(0o755)
        self._disk = SmallDisk(self.folder, disk_megabytes) if disk_megabytes else None
        self._within = self._disk.folder if self._disk is not None else self.folder
        # Little of a small disk is for old WAL.
        self._settings = {"max_wal_size": "64MB", "min_wal_size": "32MB", "wal_keep_size": "0"} if self._disk else {}
        self._door = self.folder / "door"
        self._standby: Server | None = None
        self._primary = Server(self._within, **self._settings)
        self._primary.start()
        self._open(self._primary)
        code.migrate(self._primary.url)
        with self.connect() as connection:
            connection.execute(_HISTORY.read_bytes())
            row = connection.execute("SHOW server_version").fetchone()
        self.version = str(row[0]) if row else "?"
        if standby:
            self.stand_by()

    @property
    def socket(self) -> Path:
        """The socket file of whoever is in charge."""
        return self._door / self._primary.socket.name

    def connect(self) -> psycopg.Connection[Any]:
        """Straight to the primary, past the proxy."""
        return self._primary.connect()

    def logs(self) -> list[Path]:
        """What all servers of this run have logged, those that are gone too."""
        return [*sorted(self.folder.glob("gone-*.log")), self._primary.log]

    def crash(self, *, politely: bool) -> None:
        """Kill the primary; returns when it answers again."""
        self._primary.crash(politely=politely)

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

    def fail_over(self) -> None:
        """The primary dies for good, and the standby takes its place; returns when that one takes writes."""
        if self._standby is None:
            raise RuntimeError("there is no standby to fail over to")
        gone, self._primary, self._standby = self._primary, self._standby, None
        gone.die()
        with self.connect() as connection:
            connection.execute("SELECT pg_promote(true, 60)")
        self._open(self._primary)
        shutil.copy(gone.log, self.folder / f"gone-{gone.folder.name}.log")
        gone.remove()

    def stand_by(self) -> None:
        """Give the primary a standby, and have every commit wait for it from here on."""
        standby = Server(self._within, **self._settings)
        standby.copy(self._primary)
        standby.start()
        deadline = time.monotonic() + _STANDBY_SECONDS
        with self.connect() as connection:
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            connection.execute("SELECT pg_reload_conf()")
            while connection.execute(_IN_STEP).fetchone() != (True,):
                if time.monotonic() > deadline:
                    raise RuntimeError(f"the standby does not keep in step; see {standby.log}")
                time.sleep(0.05)
        self._standby = standby

    def migrate(self) -> None:
        """By the code of this checkout, while everything runs; again, if another fault comes in between."""
        deadline = time.monotonic() + _MIGRATING_SECONDS
        while True:
            try:
                with self.connect() as connection:
                    migrate(connection, Catalog())
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
            else:
                return

    def fill_disk(self, seconds: float, *, log_too: bool) -> bool:
        """Leave no room for some time; with `log_too` the write-ahead log needs some as well, and the server panics.
        Returns when there is room again and the server answers; whether it had met the end of its disk."""
        if self._disk is None:
            raise RuntimeError("this tier has no disk of its own")
        before = self._complaints()
        until = time.monotonic() + seconds
        with self._disk.full():
            if log_too:
                self._use_up_the_log()
            time.sleep(max(0.0, until - time.monotonic()))
        self._primary.come_back()
        return self._complaints() > before

    def close(self) -> None:
        """Stop everything and remove it."""
        for server in (self._standby, self._primary):
            if server is not None:
                server.remove()
        if self._disk is not None:
            self._disk.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _complaints(self) -> int:
        return self._primary.log.read_text(errors="replace").count("No space left on device")

    def _use_up_the_log(self) -> None:
        try:
            with self.connect() as connection:
                for _ in range(_MOST_SWITCHES):
                    # Each leaves the rest of a segment unused; when none is left to use again, there must be a new one.
                    connection.execute("SELECT pg_logical_emit_message(false, 'torture', 'x'), pg_switch_wal()")
        except psycopg.Error:
            return

    def _open(self, server: Server) -> None:
        draft = self._door.with_suffix(".new")
        draft.symlink_to(server.socket.parent)
        os.replace(draft, self._door)
