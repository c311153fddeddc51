"""How others learn that workers are ready: a file, and systemd's socket. With a supervisor, and without."""

from __future__ import annotations

import signal
import socket
import time
from pathlib import Path

import pytest

from tests.cli.conftest import JOBS, Shell
from tests.conftest import Database
from tests.rig.waiting import until


def heard(systemd: socket.socket) -> dict[str, str]:
    return dict(line.split("=", 1) for line in systemd.recv(4096).decode().splitlines())


@pytest.mark.parametrize("processes", [1, 2])
def test_ready_and_stopping(tmp_path: Path, database: Database, processes: int) -> None:
    (tmp_path / "jobs.py").write_text(JOBS)
    ready = tmp_path / "ready"
    ready.write_text("of a killed worker")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(60)
        shell = Shell(tmp_path, {"HOWDAH_URL": database.url, "NOTIFY_SOCKET": str(tmp_path / "notify")})
        with shell.worker("--processes", processes, "--ready-file", "ready") as worker:
            assert heard(systemd)["READY"] == "1"
            assert ready.read_text() == f"{worker.process.pid}\n"
            assert worker.log.count("worker started") == processes
            if processes > 1:
                began = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
                worker.process.send_signal(signal.SIGHUP)
                reloading = heard(systemd)
                assert reloading["RELOADING"] == "1"
                assert began <= int(reloading["MONOTONIC_USEC"]) <= time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
                assert heard(systemd)["READY"] == "1"
                assert worker.log.count("worker started") == 2 * processes
                assert worker.log.count("ready: 2 processes") == 1
            worker.process.send_signal(signal.SIGTERM)
            assert heard(systemd) == {"STOPPING": "1"}
            until(lambda: not ready.exists(), "the file is removed")
            assert worker.process.wait(40) == 0
        systemd.setblocking(False)
        with pytest.raises(BlockingIOError):
            systemd.recv(4096)


def test_a_database_that_is_away_is_told_once_and_nobody_is_ready(tmp_path: Path) -> None:
    (tmp_path / "jobs.py").write_text(JOBS)
    shell = Shell(tmp_path, {"HOWDAH_URL": f"postgresql://x@/x?host={tmp_path}"})
    with shell.worker("--processes", "3", "--ready-file", "ready") as worker:
        worker.wait_for("cannot start yet")
        assert worker.signal_and_wait(signal.SIGTERM) == 0
        assert worker.log.count("cannot start yet") == 1
        assert "starting a worker" not in worker.log
        assert not (tmp_path / "ready").exists()
