"""Paths that are odd, long, full, of another version, or closed to the server's account."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from howdah.embedded.binaries import Binaries, all_binaries, find_binaries
from howdah.embedded.layout import SOCKET_PATH_LIMIT, read_layout
from howdah.model.errors import EmbeddedError
from tests.embedded.conftest import Embed
from tests.embedded.processes import ask, keepers, postmasters, wait_until, wait_until_stopped
from tests.programs import require

ODD_NAMES = {
    "spaces": "my own  project",
    "quotes": 'it\'s a "project", really',
    "shell": "$HOME `id` ; & | * \\",
    "letters": "größe-数",
    "percent": "100%41?host=x&y#z",
}


@pytest.mark.parametrize("name", ODD_NAMES.values(), ids=ODD_NAMES)
def test_odd_characters_in_the_path(place: Path, embed: Embed, name: str) -> None:
    server = embed(place / name / ".howdah")
    url = server.acquire()
    assert ask(url, "SELECT 1") == 1
    assert server.stop()
    assert server.acquire() == url


@pytest.mark.parametrize("length", [SOCKET_PATH_LIMIT, SOCKET_PATH_LIMIT + 1, 200])
def test_long_path(place: Path, embed: Embed, length: int) -> None:
    """`length` is that of the socket's path, were it inside the folder."""
    folder = place / ("x" * (length - len(f"{place}//server/socket/.s.PGSQL.5432")))
    server = embed(folder)
    url = server.acquire()
    assert ask(url, "SELECT 1") == 1
    layout = read_layout(folder)
    assert len(str(layout.home / "socket" / ".s.PGSQL.5432")) == length
    assert (layout.socket_dir.parent == layout.home) == (length <= SOCKET_PATH_LIMIT)
    assert layout.socket_dir.stat().st_mode & 0o777 == 0o700
    assert server.stop()
    assert server.acquire() == url


def test_a_short_socket_folder_of_somebody_else_is_not_used(place: Path, embed: Embed) -> None:
    require(os.geteuid() == 0, "root, to make a folder of another account")
    folder = place / ("x" * 200)
    taken = read_layout(folder).socket_dir
    taken.mkdir(mode=0o777)
    os.chown(taken, 12345, 12345)
    try:
        with pytest.raises(EmbeddedError, match=r"must be a folder of mode 0700 that belongs to"):
            embed(folder).acquire()
        assert taken.stat().st_uid == 12345
    finally:
        taken.rmdir()


def test_data_of_another_version_uses_matching_programs(folder: Path, embed: Embed) -> None:
    newest, older = two_majors()
    first = embed(folder, binaries=older)
    ask(first.acquire(), "CREATE TABLE kept AS SELECT 42 AS answer")
    first.stop()
    second = embed(folder, binaries=newest)
    assert ask(second.acquire(), "SELECT answer FROM kept") == 42
    assert str(ask(second.url(), "SHOW server_version")).startswith(str(older.major))


def test_data_of_a_version_without_programs_is_not_touched(folder: Path, embed: Embed) -> None:
    server = embed(folder)
    server.acquire()
    server.stop()
    data = read_layout(folder).data
    (data / "PG_VERSION").write_text("9\n")
    before = {path: path.stat().st_mtime_ns for path in data.rglob("*")}
    major = find_binaries().major
    with pytest.raises(EmbeddedError, match=rf"made by PostgreSQL 9, .* version {major}.*HOWDAH_PG_BIN"):
        server.acquire()
    assert {path: path.stat().st_mtime_ns for path in data.rglob("*")} == before
    wait_until(lambda: not keepers(folder), "the keeper to leave")


def two_majors() -> tuple[Binaries, Binaries]:
    found = all_binaries()
    others = [each for each in found if each.major != found[0].major]
    require(others, "PostgreSQL programs of two major versions")
    return found[0], others[0]


@pytest.fixture
def small_disk(place: Path) -> Iterator[Path]:
    """A disk with room for one server and little more."""
    require(os.geteuid() == 0, "root, to mount a small disk")
    disk = place / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=100m,mode=0755", "tmpfs", disk], capture_output=True, text=True
    )
    require(mounted.returncode == 0, f"the right to mount a small disk ({mounted.stderr.strip()})")
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


def fill(disk: Path, *, leave: int) -> Path:
    filler = disk / "filler"
    free = shutil.disk_usage(disk).free
    with filler.open("wb") as file:
        for size in (1024 * 1024, 4096):
            while free - file.tell() - size >= leave:
                file.write(b"\0" * size)
    return filler


@pytest.mark.parametrize("leave", [0, 30 * 1024 * 1024])
def test_no_room_for_a_data_folder(small_disk: Path, embed: Embed, leave: int) -> None:
    folder = small_disk / ".howdah"
    filler = fill(small_disk, leave=leave)
    server = embed(folder)
    with pytest.raises(EmbeddedError, match=r"No space left on device") as caught:
        server.acquire()
    assert "\n" not in str(caught.value)
    home = read_layout(folder).home
    assert not home.exists() or {path.name for path in home.iterdir()} <= {"socket"}
    filler.unlink()
    assert ask(server.acquire(), "SELECT 1") == 1
    server.stop()
    wait_until(lambda: not keepers(folder), "the keeper to leave")


def test_no_room_to_start(small_disk: Path, embed: Embed) -> None:
    folder = small_disk / ".howdah"
    server = embed(folder)
    ask(server.acquire(), "CREATE TABLE kept AS SELECT 42 AS answer")
    server.stop()
    filler = fill(small_disk, leave=0)
    with pytest.raises(EmbeddedError, match=r"No space left on device.*server\.log"):
        server.acquire()
    wait_until_stopped(folder)
    filler.unlink()
    assert ask(server.acquire(), "SELECT answer FROM kept") == 42
    assert len(postmasters(folder)) == 1
    server.stop()
    wait_until(lambda: not keepers(folder), "the keeper to leave")
