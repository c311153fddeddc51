"""A pgbouncer in transaction mode in front of a server."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg

PORT = 6432
_START_SECONDS = 20.0


class Pooler:
    """One pgbouncer process; every database of the server is reachable through it."""

    def __init__(self, server_socket_dir: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="howdah-pool-", dir="/var/tmp"))
        self.folder.chmod(0o777)
        config = self.folder / "pgbouncer.ini"
        config.write_text(
            "[databases]\n"
            f"* = host={server_socket_dir} port=5432 user=howdah\n"
            "[pgbouncer]\n"
            f"unix_socket_dir = {self.folder}\nlisten_port = {PORT}\nlisten_addr =\nauth_type = any\n"
            "pool_mode = transaction\ndefault_pool_size = 20\nmax_client_conn = 500\n"
            f"logfile = {self.folder}/log\nignore_startup_parameters = extra_float_digits\n"
        )
        # pgbouncer refuses to run as root, and the server's socket is open to root and the server's account only.
        owner = pwd.getpwuid(os.stat(server_socket_dir).st_uid).pw_name
        as_account = ["-u", owner] if os.getuid() == 0 else []
        program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
        self._command = [program, "-q", *as_account, str(config)]
        self.process = self._start()

    @property
    def socket(self) -> Path:
        """Its socket file."""
        return self.folder / f".s.PGSQL.{PORT}"

    def url(self, dbname: str) -> str:
        return f"postgresql://howdah@/{dbname}?host={self.folder}&port={PORT}"

    def restart(self) -> None:
        """Kill it, with all its connections, and start it again."""
        self.process.kill()
        self.process.wait()
        self.socket.unlink(missing_ok=True)
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(self._command, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if time.monotonic() > deadline:
                raise RuntimeError(f"pgbouncer did not start; see {self.folder}/log")
            time.sleep(0.02)
        return process

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)


def find_pgbouncer() -> bool:
    return shutil.which("pgbouncer") is not None or Path("/usr/sbin/pgbouncer").exists()
