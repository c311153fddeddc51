"""One PostgreSQL server of the rig: durable commits, killed and started again, made anew or as another's standby."""

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

from howdah.embedded.binaries import find_binaries
from howdah.embedded.installation import within_reach
from howdah.embedded.layout import make_folder, settle
from howdah.embedded.server import EmbeddedServer, ServerSettings
from howdah.model.errors import EmbeddedError

_POSTGRES = {
    "max_connections": "200",
    # A deadlock shall be seen, not waited out.
    "deadlock_timeout": "100ms",
    "log_lock_waits": "on",
    # A standby whose primary is killed and started again finds everything that it missed, and looks often.
    "wal_keep_size": "512MB",
    "wal_retrieve_retry_interval": "100ms",
}
_BACK_SECONDS = 60.0


class Server:
    """Not started until told; `within` is a folder that the server's account can enter."""

    def __init__(self, within: Path, **settings: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="server-", dir=within))
        self.folder.chmod(0o755)
        self._embedded = EmbeddedServer(self.folder, settings=ServerSettings(postgres={**_POSTGRES, **settings}))
        self.url = self._embedded.url()

    def start(self) -> None:
        """Make it if it is not there, and start it."""
        self.url = self._embedded.acquire()

    def copy(self, primary: Server) -> None:
        """Become a standby of that one; start() follows."""
        make_folder(self.folder)
        layout, account = settle(self.folder)
        program = within_reach(account, find_binaries()).program("pg_basebackup")
        source = f"host={primary.socket.parent} port=5432 user=howdah"
        command: list[str | Path] = [program, "-d", source, "-D", layout.data, "-R", "-c", "fast", "-X", "stream"]
        done = account.run(command)
        if done.returncode != 0:
            raise RuntimeError(f"no copy of the primary: {done.stderr.strip()}")

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

    def crash(self, *, politely: bool) -> None:
        """Kill it without a checkpoint: kill -9, or an immediate stop. Returns when it answers again."""
        pid = self._embedded.status().pid
        if pid is not None:
            os.kill(pid, signal.SIGQUIT if politely else signal.SIGKILL)
        self.come_back(but_not_as=pid)

    def come_back(self, but_not_as: int | None = None) -> None:
        """Start it again if it is down, as somebody's init system would; returns when it answers."""
        deadline = time.monotonic() + _BACK_SECONDS
        while True:
            # A start on a disk that has just been full, or beside what a crash left, may take a second try.
            with contextlib.suppress(EmbeddedError):
                self._embedded.restart_if_dead()
            try:
                self.connect().close()
            except psycopg.OperationalError:
                pass
            else:
                if but_not_as is None or self._embedded.status().pid != but_not_as:
                    return
            if time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not come back; see {self.log}")
            time.sleep(0.05)

    def die(self) -> None:
        """For good: nobody of it is left when this returns, so that two servers are never at work at once."""
        pid = self._embedded.status().pid
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
        self._embedded.stop()

    def remove(self) -> None:
        """Stop it and remove its folder."""
        with contextlib.suppress(OSError, subprocess.SubprocessError, EmbeddedError):
            self._embedded.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
