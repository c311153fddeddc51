"""Start, use, stop, start again: the plain life of a server, on every version found."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import psycopg
import pytest

from howdah.embedded.binaries import Binaries, all_binaries
from howdah.embedded.layout import read_layout
from howdah.embedded.server import ServerSettings
from howdah.model.errors import EmbeddedError
from tests.embedded.conftest import Embed
from tests.embedded.processes import (
    UserProcess,
    ask,
    keepers,
    postmasters,
    server_is_gone,
    wait_until_stopped,
)
from tests.programs import require

ONE_PER_MAJOR = list({each.major: each for each in reversed(all_binaries())}.values())


@pytest.mark.parametrize("binaries", ONE_PER_MAJOR, ids=lambda each: f"postgres{each.major}")
def test_data_survives_stop_and_start(folder: Path, embed: Embed, binaries: Binaries) -> None:
    server = embed(folder, binaries=binaries)
    url = server.acquire()
    ask(url, "CREATE TABLE kept AS SELECT 42 AS answer")
    assert str(ask(url, "SHOW server_version")).startswith(str(binaries.major))
    assert server.stop()
    assert not server.stop()
    assert server.acquire() == url
    assert ask(url, "SELECT answer FROM kept") == 42


def test_release_stops_the_server(folder: Path, embed: Embed) -> None:
    server = embed(folder)
    server.acquire()
    assert len(postmasters(folder)) == 1
    server.release()
    wait_until_stopped(folder)
    server.release()


def test_acquire_is_idempotent_and_safe_between_threads(folder: Path, embed: Embed) -> None:
    server = embed(folder)
    urls: list[str] = []
    threads = [threading.Thread(target=lambda: urls.append(server.acquire())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert urls == [server.url()] * 8
    assert len(postmasters(folder)) == len(keepers(folder)) == 1
    server.release()
    wait_until_stopped(folder)


def test_interpreter_exit_leaves(folder: Path) -> None:
    with UserProcess(folder) as user:
        user.acquire()
        user.leave()
    wait_until_stopped(folder)


def test_told_to_stay_it_stays_until_stopped(folder: Path, embed: Embed) -> None:
    url = embed(folder).start(stay=True)
    with UserProcess(folder) as user:
        assert user.acquire() == url
        user.leave()
    assert ask(url, "SELECT 1") == 1
    assert embed(folder).status().stays
    assert embed(folder).stop()
    wait_until_stopped(folder)


def test_told_no_longer_to_stay_it_leaves_with_its_last_user(folder: Path, embed: Embed) -> None:
    embed(folder).start(stay=True)
    last = embed(folder)
    last.start(stay=False)
    assert not server_is_gone(folder)
    last.release()
    wait_until_stopped(folder)


def test_start_to_stay_keeps_the_place_of_a_user(folder: Path, embed: Embed) -> None:
    server = embed(folder)
    server.acquire()
    server.start(stay=True)
    assert not server.restart_if_dead()


def test_settings_reach_the_server(folder: Path, embed: Embed) -> None:
    url = embed(folder, settings=ServerSettings(postgres={"work_mem": "7MB"}, durable=False)).start(stay=True)
    assert ask(url, "SHOW work_mem") == "7MB"
    assert [ask(url, f"SHOW {name}") for name in ("fsync", "synchronous_commit")] == ["off", "off"]
    embed(folder).stop()
    url = embed(folder).start(stay=True)
    assert ask(url, "SHOW fsync") == "on"
    assert ask(url, "SHOW data_checksums") == "on"


def test_wrong_setting_is_one_clear_line(folder: Path, embed: Embed) -> None:
    server = embed(folder, settings=ServerSettings(postgres={"shared_buffers": "plenty"}))
    with pytest.raises(EmbeddedError, match=r"shared_buffers.*see .*server\.log") as caught:
        server.acquire()
    assert "\n" not in str(caught.value)
    wait_until_stopped(folder)
    with pytest.raises(EmbeddedError, match="shared_buffers"):
        server.start(stay=True)
    assert not server.status().stays


def test_folder_is_ignored_by_git_and_private(folder: Path, embed: Embed) -> None:
    embed(folder).acquire()
    assert (folder / ".gitignore").read_text() == "*\n"
    layout = read_layout(folder)
    assert layout.home.stat().st_mode & 0o777 == 0o700
    assert layout.socket_dir.stat().st_mode & 0o777 == 0o700


def test_nothing_listens_on_tcp(folder: Path, embed: Embed) -> None:
    server = embed(folder)
    assert ask(server.acquire(), "SHOW listen_addresses") == ""
    sockets = Path("/proc/net/tcp")
    require(sockets.exists(), "/proc to list the sockets of a process")
    pid = postmasters(folder)[0]
    opened = {os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    assert any(name.startswith("socket:") for name in opened)
    for listed in (sockets, Path("/proc/net/tcp6")):
        inodes = {f"socket:[{line.split()[9]}]" for line in listed.read_text().splitlines()[1:]}
        assert not inodes & opened


def test_tcp_is_refused_even_if_turned_on(folder: Path, embed: Embed) -> None:
    require(sys.platform == "linux", "a loopback address of its own")
    address = f"127.54.{os.getpid() // 250 % 250}.{os.getpid() % 250 + 1}"
    embed(folder, settings=ServerSettings(postgres={"listen_addresses": address})).acquire()
    with pytest.raises(psycopg.OperationalError, match=r"no pg_hba\.conf entry"):
        psycopg.connect(f"host={address} port=5432 user=howdah dbname=howdah", connect_timeout=5)


def test_status_of_a_folder_that_is_not_there_makes_nothing(folder: Path, embed: Embed) -> None:
    status = embed(folder).status()
    assert not status.running
    assert status.pid is None
    assert not embed(folder).stop()
    assert not folder.exists()


def test_a_forked_child_keeps_the_server(folder: Path, embed: Embed) -> None:
    program = """
import os, sys
from pathlib import Path
from howdah.embedded.server import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]))
server.acquire()
if os.fork():
    os._exit(0)
sys.stdin.readline()
"""
    parent = subprocess.Popen([sys.executable, "-c", program, str(folder)], stdin=subprocess.PIPE)
    assert parent.wait(60) == 0
    assert embed(folder).status().running
    assert parent.stdin is not None
    parent.stdin.close()
    wait_until_stopped(folder)
