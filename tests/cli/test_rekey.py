"""`howdah rekey`, and `howdah show` with and without the key."""

from __future__ import annotations

import base64
import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from howdah import Howdah, Keyring
from howdah.admin import rekeying
from tests.cli.conftest import Shell
from tests.conftest import Database
from tests.rig.waiting import until_async
from tests.rig.working import working
from tests.sealing.jobs_with_secrets import app as jobs

OLD, NEW = os.urandom(32), os.urandom(32)
SECRET = "rosebud"
KEYS = "SELECT DISTINCT data -> 'howdah:sealed' ->> 'key' FROM jobs ORDER BY 1"


def written(**keys: bytes) -> str:
    return ",".join(f"{name}:{base64.b64encode(key).decode()}" for name, key in keys.items())


@pytest.fixture
def shell(tmp_path: Path, database: Database) -> Shell:
    return Shell(tmp_path, {"HOWDAH_URL": database.url})


def app_with(database: Database, keyring: Keyring | None) -> Howdah:
    app = Howdah(database.url, encryption=keyring)
    app.include(jobs)
    return app


async def fill(database: Database, keyring: Keyring | None) -> list[Any]:
    """Ended, failed and waiting jobs, with events, sealed so."""
    app = app_with(database, keyring)
    async with working(app):
        made = [await app.definition(name).aenqueue(SECRET) for name in ("carry", "stumble", "carry_in_thread")]
        for job in made:
            await job.await_(30)
    # In a queue that this worker does not serve: they wait, one of them for its time.
    app.definition("carry").using(queue="later").enqueue_many([{"secret": SECRET}] * 300)
    app.definition("take_nothing").using(queue="later", delay=timedelta(seconds=2)).enqueue()
    app.close()
    return made


def stored(sql: psycopg.Connection[Any]) -> str:
    return "".join(
        str(sql.execute(f"SELECT t::text FROM {table} AS t".encode()).fetchall()) for table in ("jobs", "job_events")
    )


async def test_everything_is_sealed_with_the_newest_key_and_still_runs(
    shell: Shell, database: Database, sql: psycopg.Connection[Any]
) -> None:
    assert rekeying.PAGE < 600, "more than a page"
    await fill(database, None)
    await fill(database, Keyring({"old": OLD}))
    lines = "SELECT * FROM ready ORDER BY lane, rank, created_at, id"
    waiting = sql.execute(lines.encode()).fetchall()
    done = shell_with(shell, new=NEW, old=OLD)("rekey", "--json").must_work().json
    assert done == {"key": "new", "jobs": 608, "events": 4, "busy": 0, "unopened": {}}
    assert sql.execute(KEYS.encode()).fetchall() == [("new",)]
    assert '"old"' not in stored(sql)
    assert sql.execute(lines.encode()).fetchall() == waiting, "what waits, waits where it waited"
    again = shell_with(shell, new=NEW)("rekey").must_work()
    assert again.out == "sealed with key 'new': 0 jobs, 0 events\n"
    app = app_with(database, Keyring({"new": NEW}))
    async with working(app, queues={"later": None}):
        left = "SELECT count(*) FROM jobs WHERE status NOT IN ('completed', 'failed')"
        await until_async(lambda: sql.execute(left.encode()).fetchone() == (0,), "everything has run")
    opened = [app.get(row[0]).record for row in sql.execute("SELECT id FROM jobs").fetchall()]
    assert {json.dumps(record.data) for record in opened} == {f'{{"secret": "{SECRET}"}}', "{}"}
    assert {record.status for record in opened} == {"completed", "failed"}
    app.close()


def shell_with(shell: Shell, plain: bool = False, **keys: bytes) -> Shell:
    return Shell(shell.folder, {**shell.environment, "HOWDAH_KEYS": ("plain," if plain else "") + written(**keys)})


async def test_everything_is_opened_again(shell: Shell, database: Database, sql: psycopg.Connection[Any]) -> None:
    await fill(database, Keyring({"old": OLD}))
    assert SECRET not in stored(sql)
    told = shell_with(shell, plain=True, old=OLD)("rekey").must_work()
    assert told.out == "opened: 304 jobs, 2 events\n"
    assert "howdah:sealed" not in stored(sql)
    assert f"ValueError: stumbled over {SECRET}" in stored(sql)


async def test_what_is_held_or_cannot_be_opened_is_left_and_told(
    shell: Shell, database: Database, sql: psycopg.Connection[Any]
) -> None:
    await fill(database, Keyring({"old": OLD}))
    some = "SELECT id FROM jobs WHERE status = 'pending' LIMIT 3"
    sql.execute(f"UPDATE jobs SET status = 'running', worker_id = 'somebody' WHERE id IN ({some})".encode())
    before = sql.execute("SELECT id, data FROM jobs WHERE status = 'running' ORDER BY id").fetchall()
    with database.connect() as other, other.transaction():
        other.execute("SELECT FROM jobs WHERE status = 'completed' FOR UPDATE")
        told = shell_with(shell, new=NEW, old=OLD)("rekey")
    assert told.code == 1
    assert "howdah: 5 jobs are held by workers; run it again when they have ended" in told.err
    assert sql.execute("SELECT id, data FROM jobs WHERE status = 'running' ORDER BY id").fetchall() == before
    without = shell_with(shell, newer=NEW)("rekey")
    assert without.code == 1
    assert "cannot be opened: sealed with key 'old', which is not here" in without.err
    assert "cannot be opened: sealed with key 'new', which is not here" in without.err
    sql.execute("UPDATE jobs SET status = 'completed' WHERE status = 'running'")
    shell_with(shell, new=NEW, old=OLD)("rekey").must_work()
    assert sql.execute(KEYS.encode()).fetchall() == [("new",)]


def test_mistakes(shell: Shell) -> None:
    shell("rekey").must_be_refused("HOWDAH_KEYS is not set", "openssl rand -base64 32")
    Shell(shell.folder, {**shell.environment, "HOWDAH_KEYS": ""})("ls").must_be_refused("HOWDAH_KEYS is empty")
    Shell(shell.folder, {**shell.environment, "HOWDAH_KEYS": "k:short"})("ls").must_be_refused("key 'k'")


async def test_show_opens_what_it_has_the_key_for(shell: Shell, database: Database) -> None:
    carried, stumbled, *_ = await fill(database, Keyring({"old": OLD}))
    able, unable = shell_with(shell, new=NEW, old=OLD), shell_with(shell, new=NEW)
    shown = able("show", carried.id).must_work().out
    assert shown.count(SECRET) == 3, "arguments, result and event"
    assert "stumbled over rosebud" in able("show", stumbled.id).must_work().out
    for lacking in (unable, shell):
        for job in (carried, stumbled):
            shown = lacking("show", job.id).must_work().out
            assert SECRET not in shown
            assert "sealed with key 'old' (" in shown
            assert "which is not here; add it to HOWDAH_KEYS" in shown
            assert '"nonce"' not in shown, "no base64 for people"
        assert lacking("show", carried.id, "--json").must_work().json["data"]["howdah:sealed"]["key"] == "old"
    listed = shell("ls", "--status", "failed").must_work().out
    assert "ValueError: its text is sealed with key 'old'" in listed


async def test_a_list_says_which_key_a_job_waits_for(shell: Shell, database: Database) -> None:
    sealing, without = app_with(database, Keyring({"old": OLD})), app_with(database, None)
    job = sealing.definition("carry").enqueue(SECRET)
    async with working(without):
        await until_async(lambda: job.refresh().last_error is not None, "it has been put off")
        assert "sealed with key 'old' (" in shell("ls").must_work().out
    assert job.refresh().status == "pending"
    sealing.close()
