"""Jobs whose arguments, results, events and errors are sealed, from enqueue to result, beside others that are not."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from typing import Any
from uuid import UUID

import psycopg
import pytest

from howdah import Howdah, JobFailed, KeyMissing, Keyring, SealBroken
from tests.conftest import Database
from tests.rig.waiting import until_async
from tests.rig.working import working
from tests.sealing.jobs_with_secrets import app as jobs

NEW, OLD, OTHER = ({name: os.urandom(32)} for name in ("new", "old", "other"))
SECRET = "rosebud \N{LATIN SMALL LETTER U WITH DIAERESIS}"
MakeApp = Callable[..., Howdah]


@pytest.fixture
def make(make_app: MakeApp) -> MakeApp:
    """Apps with the jobs of jobs_with_secrets.py."""

    def make(keys: dict[str, bytes] | None = None, **options: Any) -> Howdah:
        made = make_app(encryption=None if keys is None else Keyring(keys, **options))
        made.include(jobs)
        return made

    return make


@pytest.fixture(autouse=True)
def no_keys_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOWDAH_KEYS", raising=False)


def everything_stored(sql: psycopg.Connection[Any]) -> str:
    tables = ("jobs", "job_events", "ready", "scheduled", "workers", "claims", "lanes")
    return "".join(str(sql.execute(f"SELECT t::text FROM {table} AS t".encode()).fetchall()) for table in tables)


async def test_a_sealed_life(make: MakeApp, database: Database, sql: psycopg.Connection[Any]) -> None:
    app = make(NEW)
    async with working(app):
        each = [await app.definition(name).aenqueue(SECRET) for name in ("carry", "carry_in_thread", "carry_in_child")]
        few = await app.definition("carry_in_thread").aenqueue_many([{"secret": f"{SECRET}{n}"} for n in range(3)])
        many = await app.definition("carry_in_thread").aenqueue_many([{"secret": f"{SECRET}{n}"} for n in range(250)])
        async with await psycopg.AsyncConnection.connect(database.direct_url) as connection:
            inside = app.definition("carry").using(conn=connection)
            within = [await inside.aenqueue(SECRET), *await inside.aenqueue_many([{"secret": SECRET}])]
        results = [(await job.await_(30)).result for job in each]
        assert results == [{"secret": SECRET}, SECRET, [SECRET]]
        assert [(await job.aevents())[0].data for job in each] == results
        assert [(await job.await_(30)).result for job in few] == [f"{SECRET}{n}" for n in range(3)]
        assert [(await job.await_(30)).result for job in many] == [f"{SECRET}{n}" for n in range(250)]
        assert [(await job.await_(30)).result for job in within] == [{"secret": SECRET}] * 2
        assert (await app.aget(each[0].id)).record.data == {"secret": SECRET}
        nothing = await (await app.definition("take_nothing").aenqueue()).await_(30)
        assert nothing.record.data == {}
        assert nothing.result is None
    stored = everything_stored(sql)
    assert "rosebud" not in stored
    assert "howdah:sealed" in stored
    assert sql.execute("SELECT count(*) FROM jobs WHERE NOT data ? 'howdah:sealed'").fetchone() == (0,)


async def test_errors_in_the_handlers_words_are_sealed_and_others_are_not(
    make: MakeApp, sql: psycopg.Connection[Any]
) -> None:
    app = make(NEW)
    async with working(app):
        stumbling = await (await app.definition("stumble").aenqueue(SECRET)).await_(30)
        withdrawn = await (await app.definition("withdraw").aenqueue(SECRET)).await_(30)
        slow = await (await app.definition("dawdle").aenqueue(SECRET)).await_(30)
    assert f"ValueError: stumbled over {SECRET}" in (stumbling.last_error or "")
    with pytest.raises(JobFailed, match=f"stumbled over {SECRET}"):
        _ = stumbling.result
    assert stumbling.attempts == 2
    assert withdrawn.last_error == SECRET
    assert slow.last_error == "timed out after 0.05 s"
    assert "rosebud" not in everything_stored(sql)
    lines = [row[0].splitlines()[-1] for row in sql.execute("SELECT last_error FROM jobs ORDER BY id").fetchall()]
    assert lines[:2] == [f"{kind}: its text is sealed with key 'new'" for kind in ("ValueError", "Cancel")]
    assert lines[2] == slow.last_error


async def test_sealed_and_plain_jobs_live_together_and_keys_change(make: MakeApp, sql: psycopg.Connection[Any]) -> None:
    """Encryption turned on, its key changed, and turned off again, with jobs of every time still waiting."""
    times = [make(), make(OLD, seals=False), make(OLD), make({**NEW, **OLD}), make({**NEW, **OLD}, seals=False)]
    waiting = [await app.definition("carry").aenqueue(SECRET) for app in times]
    keys = "SELECT data -> 'howdah:sealed' ->> 'key' FROM jobs ORDER BY id"
    assert [row[0] for row in sql.execute(keys.encode()).fetchall()] == [None, None, "old", "new", None]
    for app in times:
        await app.aclose()
    async with working(times[-2]) as _:
        for job in waiting:
            assert (await times[-2].aget(job.id)).id == job.id
            assert (await (await times[-2].aget(job.id)).await_(30)).result == {"secret": SECRET}
    results = "SELECT DISTINCT result -> 'howdah:sealed' ->> 'key' FROM jobs"
    assert sql.execute(results.encode()).fetchall() == [("new",)]


@pytest.mark.parametrize("wrong", [None, OTHER, {"new": OTHER["other"]}], ids=["none", "another", "same name"])
async def test_a_job_whose_key_is_missing_waits_for_a_worker_that_has_it(
    make: MakeApp, sql: psycopg.Connection[Any], caplog: pytest.LogCaptureFixture, wrong: dict[str, bytes] | None
) -> None:
    right, without = make(NEW), make(wrong)
    sealed = [await right.definition("carry").aenqueue(SECRET) for _ in range(3)]
    anything = await right.definition("take_anything").aenqueue(secret=SECRET)
    sealed.append(anything)
    plain = await make().definition("carry").aenqueue("plain")
    put_off = "SELECT count(*) FROM jobs WHERE status = 'pending' AND run_at > now() + interval '40 seconds'"
    async with working(without):
        await until_async(lambda: sql.execute(put_off.encode()).fetchone() == (4,), "all four are put off")
        assert (await plain.await_(30)).status == "completed", "others go on"
    told = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(told) == 1, "once, however many jobs"
    assert "add it to HOWDAH_KEYS and restart" in told[0].getMessage()
    assert vars(told[0])["key"] == "new"
    charged = "SELECT DISTINCT attempts, errors, deaths, last_error FROM jobs WHERE status = 'pending'"
    (row,) = sql.execute(charged.encode()).fetchall()
    assert row[:3] == (0, 0, 0), "it costs nothing"
    assert "sealed with key 'new'" in row[3]
    assert "add it to HOWDAH_KEYS" in row[3]
    async with working(right):
        for job in sealed:
            await job.aretry()  # now, not in a minute
            assert (await job.await_(30)).result == {"secret": SECRET}


async def test_who_lacks_the_key_sees_the_job_but_not_what_it_carries(make: MakeApp) -> None:
    right = make(NEW)
    async with working(right):
        job = await right.definition("carry").aenqueue(SECRET)
        await job.await_(30)
        failed = await (await right.definition("stumble").aenqueue(SECRET)).await_(30)
    for without in (make(), make(OTHER)):
        seen = await without.aget(job.id)
        assert seen.status == "completed"
        assert "rosebud" not in repr(seen.record) + repr(await seen.aevents())
        assert seen.record.data.keys() == {"howdah:sealed"}
        with pytest.raises(KeyMissing, match="sealed with key 'new'"):
            _ = seen.result
        with pytest.raises(JobFailed, match="ValueError: its text is sealed with key 'new'"):
            _ = (await without.aget(failed.id)).result
        await without.aclose()


async def test_what_was_changed_or_moved_fails_with_the_reason(make: MakeApp, sql: psycopg.Connection[Any]) -> None:
    app = make(NEW)
    changed, one, other, retyped, swapped = [await app.definition("carry").aenqueue(f"{SECRET}{n}") for n in range(5)]

    def envelope(job_id: UUID) -> dict[str, Any]:
        row = sql.execute("SELECT data FROM jobs WHERE id = %s", (job_id,)).fetchone()
        assert row is not None
        return dict(row[0]["howdah:sealed"])

    flipped = envelope(changed.id)
    flipped["text"] = ("B" if flipped["text"][0] == "A" else "A") + flipped["text"][1:]
    write = "UPDATE jobs SET data = %s WHERE id = %s"
    sql.execute(write, (json.dumps({"howdah:sealed": flipped}), changed.id))
    mine, theirs = envelope(one.id), envelope(other.id)
    sql.execute(write, (json.dumps({"howdah:sealed": theirs}), one.id))
    sql.execute(write, (json.dumps({"howdah:sealed": mine}), other.id))
    sql.execute("UPDATE jobs SET job_type = 'take_anything' WHERE id = %s", (retyped.id,))
    async with working(app):
        for job in (changed, one, other, retyped):
            ended = await job.await_(30)
            assert ended.status == "failed"
            assert f"the data of job {job.id} is sealed with key 'new', and was changed or moved" in str(
                ended.last_error
            )
            assert ended.attempts == 1
        assert (await swapped.await_(30)).result == {"secret": f"{SECRET}4"}
    # A result in the place of another's, or arguments in the place of a result.
    for stolen in ("SELECT data FROM jobs WHERE id = %s", "SELECT result FROM jobs WHERE id = %s"):
        source = swapped.id if "data" in stolen else (await healthy(app)).id
        sql.execute(f"UPDATE jobs SET result = ({stolen}) WHERE id = %s".encode(), (source, swapped.id))
        with pytest.raises(SealBroken, match="the result of job"):
            _ = (await app.aget(swapped.id)).result
    await app.aclose()


async def healthy(app: Howdah) -> Any:
    async with working(app):
        return await (await app.definition("carry").aenqueue("other")).await_(30)


async def test_the_limit_counts_what_the_caller_passes(make_app: MakeApp) -> None:
    app = make_app(encryption=Keyring(NEW), data_limit=1000)
    app.include(jobs)
    fits = "x" * (1000 - len('{"secret":""}'))
    async with working(app):
        job = await (await app.definition("carry").aenqueue(fits)).await_(30)
        assert job.result == {"secret": fits}
        with pytest.raises(ValueError, match="the limit is 1,000"):
            await app.definition("carry").aenqueue(fits + "x")


def test_blocking_code_seals_as_well(make: MakeApp, database: Database, sql: psycopg.Connection[Any]) -> None:
    app = make(NEW)
    carry = app.definition("carry")
    made = [carry.enqueue(SECRET), *carry.enqueue_many([{"secret": SECRET}] * 2)]
    made += carry.enqueue_many([{"secret": SECRET}] * 300)
    with psycopg.connect(database.direct_url) as connection:
        made += [carry.using(conn=connection).enqueue(SECRET)]
        made += carry.using(conn=connection).enqueue_many([{"secret": SECRET}] * 300)
    assert {app.get(job.id).record.data["secret"] for job in made} == {SECRET}
    assert "rosebud" not in everything_stored(sql)


def test_keys_come_from_the_environment(
    make_app: MakeApp, sql: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    import base64

    monkeypatch.setenv("HOWDAH_KEYS", f"here:{base64.b64encode(os.urandom(32)).decode()}")
    app = make_app()
    app.include(jobs)
    job = app.definition("carry").enqueue(SECRET)
    assert sql.execute("SELECT data -> 'howdah:sealed' ->> 'key' FROM jobs").fetchone() == ("here",)
    assert app.get(job.id).record.data == {"secret": SECRET}
