"""Jobs from their first day to their last, with a different login for everybody who touches them.

The app enqueues as producer, a worker process runs as worker, an admin gives orders on the command line, a reader
lists: each with the rights of its own role and no other.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from howdah import Howdah, JobCancelled, JobFailed
from howdah.db.link import Link, Outage
from howdah.maintenance.chores import Chores
from howdah.maintenance.store import bury
from howdah.model.errors import DatabaseUnavailable
from tests.cli.conftest import Shell
from tests.rig.waiting import until
from tests.security.conftest import OWNER, Secured
from tests.security.manifest import ADMIN, NOBODY, PAYLOAD_READER, PRODUCER, READER, WORKER

SECRET = "rosebud-1941"
JOBS = """
import asyncio
import os
from datetime import timedelta
from pathlib import Path

from howdah import Backoff, Howdah, JobContext

app = Howdah()


@app.job(retry=Backoff(base=timedelta(0)))
async def stumble(ctx: JobContext, secret: str) -> dict:
    ctx.progress(40, stage="begun")
    ctx.event("tried", {"secret": secret, "attempt": ctx.attempt})
    if ctx.attempt == 1:
        raise ValueError(f"stumbled over {secret}")
    return {"told": secret}


@app.job()
def double(n: int) -> int:
    return n * 2


@app.job()
async def endless() -> None:
    await asyncio.Event().wait()


@app.job()
async def survive(ctx: JobContext) -> int:
    if ctx.attempt == 1:
        Path("draft").write_text(str(os.getpid()))
        Path("draft").rename("victim")
        await asyncio.Event().wait()
    return ctx.attempt


@app.job(max_attempts=1)
async def hopeless(secret: str) -> None:
    raise ValueError(f"no hope for {secret}")
"""
As = Callable[[str], Shell]


@pytest.fixture
def acting(secured: Secured, tmp_path: Path) -> As:
    """The `howdah` command as somebody of that role, beside jobs.py."""
    (tmp_path / "jobs.py").write_text(JOBS)
    return lambda who: Shell(tmp_path, {"HOWDAH_URL": secured.url(who)})


@pytest.fixture
def jobs(acting: As, secured: Secured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """jobs.py as the application of a producer."""
    monkeypatch.setenv("HOWDAH_URL", secured.url(PRODUCER))
    spec = importlib.util.spec_from_file_location("producers_jobs", tmp_path / "jobs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    module.app.close()


def test_what_a_producer_enqueues_a_worker_runs(secured: Secured, acting: As, jobs: ModuleType) -> None:
    with acting(WORKER).worker("--poll", "200ms") as worker:
        stumbling = jobs.stumble.enqueue(SECRET)
        few = jobs.double.enqueue_many([{"n": n} for n in range(3)])
        many = jobs.double.enqueue_many([{"n": n} for n in range(250)])
        with secured.connect(PRODUCER) as conn:
            with conn.transaction():
                inside = jobs.double.using(conn=conn).enqueue(21)
            with conn.transaction(force_rollback=True):
                never = jobs.double.using(conn=conn).enqueue(22)
        assert stumbling.wait(30).result == {"told": SECRET}
        assert stumbling.attempts == 2
        assert [event.data["attempt"] for event in stumbling.events()] == [1, 2]
        assert [job.wait(30).result for job in (*few, *many, inside)] == [2 * n for n in (*range(3), *range(250), 21)]
        with pytest.raises(LookupError):
            never.refresh()

        running = jobs.endless.enqueue()
        until(lambda: running.refresh().status == "running", "the endless job runs")
        assert running.cancel()
        with pytest.raises(JobCancelled):
            _ = running.wait(30).result
        failed = jobs.hopeless.enqueue(SECRET).wait(30)
        with pytest.raises(JobFailed, match=SECRET):
            _ = failed.result
        assert worker.signal_and_wait(signal.SIGTERM) == 0
    assert "no right" not in worker.log, worker.log


def test_a_supervisor_buries_its_dead(acting: As, jobs: ModuleType, tmp_path: Path) -> None:
    """At once, and not after their silence: so its role may."""
    with acting(WORKER).worker("--processes", "2", "--silence", "10m") as workers:
        job = jobs.survive.enqueue()
        until((tmp_path / "victim").exists, "the job runs")
        os.kill(int((tmp_path / "victim").read_text()), signal.SIGKILL)
        assert job.wait(60).result == 2
        assert workers.signal_and_wait(signal.SIGTERM) == 0
    assert "no right" not in workers.log, workers.log


async def test_a_producer_may_be_async_too(jobs: ModuleType, acting: As) -> None:
    with acting(WORKER).worker("--poll", "200ms"):
        job = await jobs.double.aenqueue(4)
        many = await jobs.double.aenqueue_many([{"n": n} for n in range(201)])
        assert (await job.await_(30)).result == 8
        assert (await many[200].await_(30)).result == 400
    await jobs.app.aclose()


def test_an_admin_cancels_retries_reprioritises_and_pauses(secured: Secured, acting: As, jobs: ModuleType) -> None:
    admin = acting(ADMIN)
    with acting(WORKER).worker("--poll", "200ms"):
        failed = jobs.hopeless.enqueue(SECRET).wait(30)
        assert "runs again" in admin("retry", failed.id).must_work().out
        until(lambda: failed.refresh().attempts == 2 and failed.status == "failed", "it was tried again")
        running = jobs.endless.enqueue()
        until(lambda: running.refresh().status == "running", "the endless job runs")
        assert "asked its worker to stop" in admin("cancel", running.id).must_work().out
        assert running.wait(30).status == "cancelled"
    admin("pause", "default").must_work()
    waiting = jobs.double.enqueue(1)
    with secured.connect(ADMIN) as sql:
        sql.execute("UPDATE howdah.jobs SET priority = 150 WHERE job_type = 'double' AND status = 'pending'")
        sql.execute("UPDATE howdah.settings SET retention = '90 days'")
        assert sql.execute("SELECT name FROM howdah.pauses").fetchall() == [("default",)]
    assert waiting.refresh().record.priority == 150
    with acting(WORKER).worker("--poll", "200ms"):
        admin("resume", "default").must_work()
        assert waiting.wait(30).result == 2


def test_a_reader_sees_everything_but_what_jobs_carry(secured: Secured, acting: As, jobs: ModuleType) -> None:
    with acting(WORKER).worker("--poll", "200ms"):
        done, failed = jobs.stumble.enqueue(SECRET).wait(30), jobs.hopeless.enqueue(SECRET).wait(30)
        delayed = jobs.double.using(priority=150, queue="other").enqueue(1)
        reader, payload_reader = acting(READER), acting(PAYLOAD_READER)
        for statuses in ([], ["--status", "pending"], ["--status", "running"], ["--status", "failed"]):
            listed = reader("ls", "--json", *statuses).must_work()
            assert SECRET not in listed.out
        assert {line["id"] for line in reader("ls", "--json").lines} == {str(j.id) for j in (done, failed, delayed)}
        assert "hopeless" in reader("queues").must_work().out
        assert "alive" in reader("workers").must_work().out
        findings = reader("doctor", "--json").must_work().json
        assert [f for f in findings if f["level"] == "fail" or "could not be examined" in f["message"]] == []
        reader("show", done.id).must_be_refused("no rights", "get_job")
        with secured.connect(READER) as sql:
            names = sql.execute("SELECT name FROM howdah.job_events WHERE seq > 0 ORDER BY seq").fetchall()
            assert names == [("tried",), ("tried",)]

        shown = payload_reader("show", done.id, "--json").must_work().json
        assert shown["result"] == {"told": SECRET}
        assert shown["events"][0]["data"]["secret"] == SECRET
        errors = {line["id"]: line["error_end"] for line in payload_reader("ls", "--json").must_work().lines}
        assert SECRET in errors[str(failed.id)]


def test_nobody_steps_out_of_his_role(acting: As, jobs: ModuleType) -> None:
    job = jobs.endless.enqueue()
    acting(PRODUCER)("retry", job.id).must_be_refused("no rights", "administer_jobs")
    acting(PRODUCER)("ls").must_be_refused("no rights")
    acting(PRODUCER)("pause", "default").must_be_refused("no rights", "pause")
    acting(WORKER)("enqueue", "jobs:app", "endless").must_be_refused("no rights", "jobs")
    acting(WORKER)("cancel", job.id).must_be_refused("no rights", "administer_jobs")
    acting(ADMIN)("enqueue", "jobs:app", "endless").must_be_refused("no rights", "jobs")
    acting(ADMIN)("show", job.id).must_be_refused("no rights", "get_job")
    acting(READER)("cancel", job.id).must_be_refused("no rights", "administer_jobs")
    acting(PAYLOAD_READER)("retry", job.id).must_be_refused("no rights", "administer_jobs")
    acting(READER)("ls", "--error", "x").must_be_refused("no rights", "jobs")
    acting(READER)("ls", "--where", "data.a=1").must_be_refused("no rights", "jobs")
    acting(ADMIN)("retry", "--where", "status=failed", "--yes").must_be_refused("no rights", "jobs")
    acting(NOBODY)("ls").must_be_refused("no rights", "schema howdah")
    assert job.refresh().status == "pending"


def test_the_command_line_waits_as_producer(acting: As) -> None:
    """Nobody works yet: it may not look for workers, and waits all the same."""
    producer = acting(PRODUCER)
    late = producer("enqueue", "jobs:app", "double", '{"n": 4}', "--wait", "--timeout", "3s")
    assert late.code == 1
    assert "did not finish within" in late.err
    with acting(WORKER).worker("--poll", "200ms"):
        assert "8" in producer("enqueue", "jobs:app", "double", '{"n": 4}', "--wait").must_work().out.splitlines()


def test_a_worker_does_its_chores(secured: Secured) -> None:
    with secured.connect(OWNER) as owner:
        owner.execute(
            "SELECT howdah.create_partition('2020-01-01', '2020-01-08');"
            " UPDATE howdah.settings SET partitions_ahead = partitions_ahead + 2;"
            " INSERT INTO howdah.jobs (id, job_type, status, completed_at)"
            " VALUES ('00000000-0000-4000-8000-000000000000', 'old', 'completed', '2020-01-01')"
        )
        before = partitions(owner)
        asyncio.run(do_chores(secured.url(WORKER)))
        made = partitions(owner) - before
        assert len(made) == 2
        assert before - partitions(owner) == {"jobs_1577836800_1578441600"}
        assert owner.execute("SELECT count(*) FROM howdah.jobs").fetchone() == (0,)
        owners = owner.execute(
            "SELECT DISTINCT relowner::regrole::text FROM pg_class WHERE relname = ANY (%s)", (list(made),)
        )
        assert owners.fetchall() == [(OWNER,)]
    with secured.connect(READER) as sql:
        sql.execute("SELECT id FROM howdah.jobs")


def partitions(owner: Any) -> set[str]:
    return {f"jobs_{suffix}" for (suffix,) in owner.execute("SELECT suffix FROM howdah.list_partitions()").fetchall()}


async def do_chores(url: str) -> None:
    app = Howdah(url)
    link = Link(app.sessions.url(), app.catalog, "maintenance", Outage())
    chores = Chores(link, 30, lambda: None)
    try:
        await chores.rescue()
        await chores.make_partitions()
        await chores.look_after_retention()
        await link.perform(bury("nobody"))
    finally:
        await link.close()
        await app.aclose()


def test_a_worker_may_not_read_what_it_did_not_claim(secured: Secured) -> None:
    app = Howdah(secured.url(WORKER))
    with secured.connect(OWNER) as owner:
        row = owner.execute("SELECT howdah.enqueue_job('x')").fetchone()
        assert row is not None
    with pytest.raises(DatabaseUnavailable, match="no rights"):
        app.get(row[0])
    app.close()
