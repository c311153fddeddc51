"""A pgbouncer in transaction mode in front of a test server."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg

from tests.rig.waiting import until

PORT = 6432


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
        self.process = subprocess.Popen([program, "-q", *as_account, str(config)], stderr=subprocess.DEVNULL)
        until(self._answers, "pgbouncer answers", seconds=20)

    def url(self, dbname: str) -> str:
        return f"postgresql://howdah@/{dbname}?host={self.folder}&port={PORT}"

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
