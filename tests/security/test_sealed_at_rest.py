"""What is sealed stands nowhere on the server's disk in the clear: not in a table, an index, the write-ahead log or the
server's log, even if that shows every statement with its values."""

from __future__ import annotations

import base64
import os
import subprocess
from pathlib import Path

import pytest

from howdah import Howdah, Keyring
from tests.cli.conftest import Shell
from tests.rig.servers import TestServer
from tests.rig.working import working
from tests.sealing.jobs_with_secrets import app as jobs
from tests.security.canaries import Canaries
from tests.security.conftest import OWNER, Secured
from tests.security.manifest import TRIED

NAMES = ("carry", "carry_in_thread", "carry_in_child", "stumble", "withdraw", "dawdle")


def files_with(folder: Path, word: str) -> list[str]:
    done = subprocess.run(["grep", "-rlaF", word, folder], capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.splitlines()


async def live(app: Howdah, canary: Canaries) -> list[str]:
    """Jobs of every kind, from enqueue to end; their secrets."""
    secrets = []
    async with working(app):
        for name in NAMES:
            secrets.append(canary(name))
            job = await (await app.definition(name).aenqueue(secrets[-1])).await_(60)
            assert secrets[-1] in f"{job.record}{await job.aevents()}"
        secrets.append(canary("batch"))
        await app.definition("carry").aenqueue_many([{"secret": secrets[-1]}] * 300)
    return secrets


@pytest.mark.parametrize("sealed", [True, False], ids=["sealed", "plain"])
async def test_the_disk_holds_no_secret(secured: Secured, server: TestServer, sealed: bool) -> None:
    with secured.connect() as connection:
        connection.execute(f"ALTER DATABASE {secured.name} SET log_statement = 'all'".encode())
    app = Howdah(secured.url(OWNER), encryption=Keyring({"k": os.urandom(32)}) if sealed else None)
    app.include(jobs)
    secrets = await live(app, Canaries())
    with secured.connect() as connection:
        connection.execute("CHECKPOINT")
    # By their first half: that is what is left of one that PostgreSQL has cut.
    found = {secret: files_with(server.folder, secret[:12]) for secret in secrets}
    if sealed:
        assert {secret: files for secret, files in found.items() if files} == {}
    else:
        # What the search is worth: without keys each of them is in a table, in the write-ahead log and in the log.
        for files in found.values():
            assert any("/pg_wal/" in name for name in files)
            assert any("/base/" in name for name in files)
        assert any(name.endswith("server.log") for files in found.values() for name in files)


def test_only_the_owner_can_rekey(secured: Secured, tmp_path: Path) -> None:
    keys = f"k:{base64.b64encode(os.urandom(32)).decode()}"
    app = Howdah(secured.url(OWNER))
    app.include(jobs)
    app.definition("carry").enqueue("x")
    app.close()
    for who in TRIED:
        shell = Shell(tmp_path, {"HOWDAH_URL": secured.url(who), "HOWDAH_KEYS": keys})
        shell("rekey").must_be_refused("no rights", "permission denied")
    owner = Shell(tmp_path, {"HOWDAH_URL": secured.url(OWNER), "HOWDAH_KEYS": keys})
    assert owner("rekey").must_work().out == "sealed with key 'k': 1 jobs, 0 events\n"
