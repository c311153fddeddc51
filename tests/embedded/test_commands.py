"""`howdah db`, run as the program that users run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from howdah.cli.db import find_psql, in_words
from howdah.embedded.server import EmbeddedServer, Status
from howdah.model.errors import EmbeddedError
from tests.embedded.processes import ask, wait_until_stopped
from tests.programs import require


def howdah_db(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    program = "from howdah.cli.main import run; run()"
    return subprocess.run([sys.executable, "-c", program, "db", *arguments], capture_output=True, text=True, timeout=60)


def status(folder: Path) -> dict[str, object]:
    found = json.loads(howdah_db("status", "--folder", folder, "--json").stdout)
    assert isinstance(found, dict)
    return found


def shown(folder: Path) -> list[str]:
    return howdah_db("status", "--folder", folder).stdout.splitlines()


@pytest.mark.parametrize(
    ("stays", "has_keeper", "words"),
    [
        (True, True, "running, process 7, until `howdah db stop`"),
        (False, True, "running, process 7, until its last user has left"),
        (False, False, "running, process 7, but its keeper is gone"),
    ],
)
def test_status_in_words(stays: bool, has_keeper: bool, words: str) -> None:
    assert in_words(Status(True, "", "", "", "", 7, stays, has_keeper)).startswith(words)


def test_start_status_url_stop(folder: Path) -> None:
    assert status(folder)["running"] is False
    assert shown(folder)[0] == "server  not running"
    started = howdah_db("start", "--folder", folder)
    assert started.returncode == 0, started.stderr
    url = started.stdout.strip()
    assert ask(url, "SELECT 1") == 1
    assert howdah_db("start", "--folder", folder).stdout.strip() == url
    assert howdah_db("url", "--folder", folder).stdout.strip() == url
    assert {"running": True, "stays": True, "url": url}.items() <= status(folder).items()
    pid = status(folder)["pid"]
    assert shown(folder)[:2] == [f"server  running, process {pid}, until `howdah db stop`", f"url     {url}"]
    assert howdah_db("stop", "--folder", folder).stderr == "stopped\n"
    assert howdah_db("stop", "--folder", folder).stderr == "was not running\n"
    assert status(folder)["running"] is False


def test_no_stay_holds_the_server_until_interrupted(folder: Path) -> None:
    program = "from howdah.cli.main import run; run()"
    with subprocess.Popen(
        [sys.executable, "-c", program, "db", "start", "--no-stay", "--folder", folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        assert ask(command.stdout.readline().strip(), "SELECT 1") == 1
        assert "Ctrl-C" in command.stderr.readline()
        os.kill(command.pid, signal.SIGINT)
        assert command.wait(20) == 0
    wait_until_stopped(folder)


def test_psql_passes_its_arguments_on(folder: Path) -> None:
    require(has_psql(), "psql")
    assert "does not run" in howdah_db("psql", "--folder", folder).stderr
    EmbeddedServer(folder).start(stay=True)
    asked = howdah_db("psql", "--folder", folder, "-A", "-t", "-c", "SELECT current_database(), 6 * 7")
    assert asked.stdout == "howdah|42\n", asked.stderr


def has_psql() -> bool:
    try:
        return bool(find_psql())
    except EmbeddedError:
        return False


def test_a_mistake_is_one_line_and_exit_code_2(folder: Path) -> None:
    folder.parent.joinpath("file").write_text("")
    failed = howdah_db("start", "--folder", folder.parent / "file" / ".howdah")
    assert failed.returncode == 2
    assert failed.stderr.startswith("howdah: ")
    assert failed.stderr.count("\n") == 1
