"""SIGKILL of anyone, at any time: nothing is lost, nothing runs on without a user, nothing starts twice."""

from __future__ import annotations

import glob
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from howdah.embedded.layout import read_layout
from tests.embedded.conftest import Embed
from tests.embedded.processes import (
    UserProcess,
    ask,
    keepers,
    kill,
    postmasters,
    processes_naming,
    wait_until,
    wait_until_stopped,
)
from tests.programs import require


@pytest.mark.parametrize("count", [2, 8])
def test_starting_at_once_yields_one_server(folder: Path, count: int) -> None:
    users = [UserProcess(folder) for _ in range(count)]
    try:
        for user in users:
            user.go()
        urls = {user.url() for user in users}
        assert len(urls) == 1
        assert len(postmasters(folder)) == len(keepers(folder)) == 1
        assert ask(urls.pop(), "SELECT 1") == 1
    finally:
        for user in users:
            user.kill()
    wait_until_stopped(folder)


def test_coming_while_the_last_one_leaves(folder: Path) -> None:
    """The newcomer finds the server, or waits until it has stopped and starts it anew; never in between."""
    present = UserProcess(folder)
    present.acquire()
    for _ in range(8):
        newcomer = UserProcess(folder)
        newcomer.go()
        present.kill()
        assert ask(newcomer.url(), "SELECT 1") == 1
        assert len(postmasters(folder)) == len(keepers(folder)) == 1
        present = newcomer
    present.kill()
    wait_until_stopped(folder)


def test_the_starter_is_killed_and_another_user_goes_on(folder: Path) -> None:
    with UserProcess(folder) as starter, UserProcess(folder) as other:
        url = starter.acquire()
        assert other.acquire() == url
        before = postmasters(folder)
        starter.kill()
        assert ask(url, "SELECT 1") == 1
        assert postmasters(folder) == before
        other.kill()
        wait_until_stopped(folder)


def test_the_last_user_is_killed_and_the_server_stops(folder: Path) -> None:
    with UserProcess(folder) as user:
        user.acquire()
        user.kill()
    wait_until_stopped(folder)


@pytest.mark.parametrize("sign", ["start.lock", "server/initdb-*", "server/data/postmaster.pid"])
def test_killed_in_the_middle_of_the_first_start(folder: Path, sign: str) -> None:
    """Killed as soon as a step shows; what it began is stopped, and the next user has a whole server."""
    with UserProcess(folder) as user:
        user.go()
        wait_until(lambda: glob.glob(str(folder / sign)), f"a sign of {sign}")
        user.kill()
    with UserProcess(folder) as next_one:
        url = next_one.acquire()
        assert ask(url, "SELECT 1") == 1
        assert len(postmasters(folder)) == len(keepers(folder)) == 1
        assert not list(read_layout(folder).home.glob("initdb-*"))
        next_one.kill()
    wait_until_stopped(folder)


def test_killed_in_the_middle_of_a_start_with_nobody_coming_after(folder: Path) -> None:
    with UserProcess(folder) as user:
        user.go()
        wait_until((folder / "server/data/postmaster.pid").exists, "a postmaster to come up")
        user.kill()
    wait_until(lambda: not processes_naming(str(folder)), "everything to be cleared up")


def test_the_keeper_is_killed_and_the_next_user_brings_another(folder: Path) -> None:
    with UserProcess(folder) as first, UserProcess(folder) as second:
        url = first.acquire()
        before = postmasters(folder)
        kill(keepers(folder)[0])
        wait_until(lambda: not keepers(folder), "the keeper to die")
        assert second.acquire() == url
        assert postmasters(folder) == before
        assert len(keepers(folder)) == 1
        first.kill()
        second.kill()
        wait_until_stopped(folder)


def test_the_keeper_is_killed_and_the_leaving_user_brings_another(folder: Path) -> None:
    with UserProcess(folder) as user:
        user.acquire()
        kill(keepers(folder)[0])
        wait_until(lambda: not keepers(folder), "the keeper to die")
        user.leave()
    wait_until_stopped(folder)


def test_the_postmaster_is_killed_and_started_again(folder: Path, embed: Embed) -> None:
    server = embed(folder)
    url = server.acquire()
    ask(url, "CREATE TABLE kept AS SELECT 42 AS answer")
    killed = postmasters(folder)[0]
    kill(killed)
    assert server.acquire() == url
    assert ask(url, "SELECT answer FROM kept") == 42
    assert postmasters(folder) != [killed]
    assert len(postmasters(folder)) == len(keepers(folder)) == 1
    server.release()
    wait_until_stopped(folder)


def test_a_user_whose_connection_broke_can_restart(folder: Path, embed: Embed) -> None:
    server = embed(folder)
    url = server.acquire()
    assert not server.restart_if_dead()
    with psycopg.connect(url) as connection:
        kill(postmasters(folder)[0])
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT pg_sleep(30)")
    assert server.restart_if_dead()
    assert ask(url, "SELECT 1") == 1


def test_a_busy_backend_of_a_killed_postmaster_does_not_block_the_next(folder: Path, embed: Embed) -> None:
    server = embed(folder)
    url = server.acquire()
    busy = "import psycopg, sys; psycopg.connect(sys.argv[1]).execute('DO $$ BEGIN LOOP END LOOP; END $$')"
    with subprocess.Popen([sys.executable, "-c", busy, url], stderr=subprocess.DEVNULL) as client:
        running = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'DO %LOOP%' AND state = 'active'"
        wait_until(lambda: ask(url, running) == 1, "a backend to be busy")
        kill(postmasters(folder)[0])
        assert server.acquire() == url
        assert ask(url, running) == 0
        client.kill()


def test_the_folder_is_deleted_under_the_server(folder: Path) -> None:
    """Nothing is left to save; but the old server goes, and a new one in its place is not taken for it."""
    with UserProcess(folder) as user, UserProcess(folder) as other:
        user.acquire()
        require(Path("/proc/self/cwd").exists(), "/proc to see that a folder was deleted")
        old = postmasters(folder)
        shutil.rmtree(folder)
        url = other.acquire()
        new = postmasters(folder)
        assert len(new) == 1
        assert new != old
        user.kill()
        wait_until(lambda: len(keepers(folder)) == 1, "the old keeper to leave")
        assert postmasters(folder) == new
        assert ask(url, "SELECT 1") == 1
        other.kill()
    wait_until_stopped(folder)


def test_a_user_whose_folder_is_deleted_can_acquire_again(folder: Path, embed: Embed) -> None:
    server = embed(folder)
    url = server.acquire()
    require(Path("/proc/self/cwd").exists(), "/proc to see that a folder was deleted")
    shutil.rmtree(folder)
    assert server.acquire() == url
    with UserProcess(folder) as other:
        assert other.acquire() == url
        other.leave()
    assert ask(url, "SELECT 1") == 1
    assert not server.restart_if_dead()


def test_everyone_is_killed_at_once(folder: Path, embed: Embed) -> None:
    """As when the machine loses power: only the files are left."""
    with UserProcess(folder) as user:
        url = user.acquire()
        ask(url, "CREATE TABLE kept AS SELECT 42 AS answer")
        for pid in [*keepers(folder), *postmasters(folder), user.process.pid]:
            os.kill(pid, signal.SIGKILL)
    assert embed(folder).acquire() == url
    assert ask(url, "SELECT answer FROM kept") == 42


@pytest.mark.parametrize("whose", ["our own account", "the server's account"])
def test_a_stale_pid_file_names_an_unrelated_program(folder: Path, embed: Embed, whose: str) -> None:
    """As after a reboot: the number in both pid files now belongs to somebody else."""
    server = embed(folder)
    url = server.acquire()
    layout = read_layout(folder)
    account = layout.data.stat()
    pid_file = (layout.data / "postmaster.pid").read_text()
    socket_lock = Path(f"{layout.socket}.lock")
    socket_pid_file = socket_lock.read_text()
    server.stop()
    owner = account.st_uid if whose == "the server's account" and os.geteuid() == 0 else None
    with subprocess.Popen(["/bin/sleep", "600"], user=owner, cwd="/") as unrelated:
        for path, text in ((layout.data / "postmaster.pid", pid_file), (socket_lock, socket_pid_file)):
            path.write_text("\n".join([str(unrelated.pid), *text.split("\n")[1:]]))
            os.chown(path, account.st_uid, account.st_gid)
        assert not server.status().running
        assert server.acquire() == url
        assert ask(url, "SELECT 1") == 1
        server.stop()
        assert unrelated.poll() is None
        unrelated.kill()
