"""What a watcher is told, from the first look to the end, in threads and on event loops."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from howdah import Howdah, JobContext, JobNotFound, Keyring, OptionError, Status, Update, WaitTimeout
from tests.rig.working import working
from tests.watch.claiming import claim

Sql = psycopg.Connection[Any]


async def test_a_job_is_told_from_enqueue_to_end(app: Howdah) -> None:
    go = asyncio.Event()

    @app.job()
    async def encode(ctx: JobContext) -> str:
        ctx.progress(40, stage="encoding")
        ctx.event("begun", {"part": 1})
        await go.wait()
        ctx.event("done", {"part": 2})
        return "ok"

    async with working(app):
        job = await encode.aenqueue()
        updates: list[Update] = []
        async for update in job.watch(timeout=30):
            updates.append(update)
            if update.progress == 40:
                go.set()
        last = updates[-1]
        assert (last.status, last.progress, last.finished) == (Status.COMPLETED, 100, True)
        assert [event.name for update in updates for event in update.events] == ["begun", "done"]
        forty = next(update for update in updates if update.progress == 40)
        assert (forty.status, forty.stage, forty.attempt) == (Status.RUNNING, "encoding", 1)
        assert forty.eta is not None
        assert forty.elapsed is not None
        assert forty.eta <= forty.elapsed * 1.5
        order = [update.status for update in updates]
        assert sorted(order, key=list(Status).index) == order


def test_every_status_is_told_in_a_thread(app: Howdah, sql: Sql) -> None:
    @app.job()
    def work() -> None: ...

    job = work.enqueue()
    told = iter(job.watch(timeout=30))
    assert next(told).status is Status.PENDING
    job_id, lease = claim(sql, "work")
    assert next(told).status is Status.CLAIMED
    sql.execute("SELECT report_progress(%s, %s, 20, 'first')", (job_id, lease))
    update = next(told)
    assert (update.status, update.progress, update.stage, update.worker_id) == (Status.RUNNING, 20, "first", "w")
    sql.execute("SELECT record_event(%s, %s, 'a', '1'), record_event(%s, %s, 'b', '2')", (job_id, lease) * 2)
    assert [(event.seq, event.name, event.data) for event in next(told).events] == [(1, "a", 1), (2, "b", 2)]
    sql.execute("SELECT fail_job(%s, %s, 'no luck', '0 s')", (job_id, lease))
    assert next(told).status is Status.PENDING
    job_id, lease = claim(sql, "work")
    assert next(told).attempt == 2
    sql.execute("SELECT fail_job(%s, %s, 'no luck at all', '0 s', true)", (job_id, lease))
    update = next(told)
    assert (update.status, update.error, update.eta) == (Status.FAILED, "no luck at all", None)
    with pytest.raises(StopIteration):
        next(told)
    with pytest.raises(StopIteration):
        next(told)


async def test_a_wait_that_was_given_up_loses_nothing(app: Howdah, sql: Sql) -> None:
    @app.job()
    def work() -> None: ...

    job = await work.aenqueue()
    watch = job.watch(timeout=30)
    assert (await anext(watch)).status is Status.PENDING
    for _ in range(5):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(watch), 0.01)
    claim(sql, "work")
    assert (await anext(watch)).status is Status.CLAIMED
    await app.aclose()


def test_after_its_end_a_job_is_told_once(app: Howdah, sql: Sql) -> None:
    @app.job()
    def work() -> None: ...

    job = work.enqueue()
    job_id, lease = claim(sql, "work")
    for name in ("a", "b", "c"):
        sql.execute("SELECT record_event(%s, %s, %s)", (job_id, lease, name))
    sql.execute("SELECT complete_job(%s, %s)", (job_id, lease))
    (update,) = list(job.watch(timeout=30))
    assert (update.status, [event.name for event in update.events]) == (Status.COMPLETED, ["a", "b", "c"])
    (update,) = list(job.watch(timeout=30, after=2))
    assert [event.name for event in update.events] == ["c"]


def test_an_unknown_job_is_an_error_and_a_deleted_one_is_told_as_gone(app: Howdah, sql: Sql) -> None:
    @app.job()
    def work() -> None: ...

    nobody = uuid4()
    with pytest.raises(JobNotFound, match=str(nobody)):
        next(app.watch(nobody, timeout=30))
    job, other = work.enqueue(), work.enqueue()
    told = app.watch(job, str(other.id), timeout=30)
    assert {next(told).job_id, next(told).job_id} == {job.id, other.id}
    sql.execute("DELETE FROM jobs WHERE id = %s", (job.id,))
    update = next(told)
    assert (update.job_id, update.gone, update.finished, update.status) == (job.id, True, True, Status.PENDING)
    other.cancel()
    assert [(update.job_id, update.status) for update in told] == [(other.id, Status.CANCELLED)]


def test_patience_has_an_end(app: Howdah) -> None:
    @app.job()
    def work() -> None: ...

    job = work.enqueue()
    told = job.watch(timeout=0.2)
    assert next(told).status is Status.PENDING
    with pytest.raises(WaitTimeout, match=r"within 0\.2 s"):
        next(told)
    assert list(told) == []


@pytest.mark.parametrize("timeout", ["soon", float("nan")])
def test_bad_input_is_told_before_anything_is_asked(app: Howdah, timeout: Any) -> None:
    with pytest.raises(OptionError, match="timeout in seconds"):
        app.watch(timeout=timeout)
    with pytest.raises(OptionError, match="not a job id"):
        app.watch("nonsense")
    with pytest.raises(OptionError, match="'done' is no status; there are: pending"):
        app.watch(statuses="done")
    with pytest.raises(OptionError, match="queue '' has 0 characters"):
        app.watch(queues=[""])
    with pytest.raises(OptionError, match="job_types takes a string or several"):
        app.watch(job_types=7)  # type: ignore[arg-type]  # that is the mistake


async def test_sealed_events_are_opened_where_the_key_is(make_app: Callable[..., Howdah]) -> None:
    app = make_app(encryption=Keyring({"k": os.urandom(32)}))

    @app.job()
    async def whisper(ctx: JobContext) -> None:
        ctx.event("said", {"secret": 1})

    async with working(app):
        job = await whisper.aenqueue()
        told = [event async for update in job.watch(timeout=30) for event in update.events]
        assert [event.data for event in told] == [{"secret": 1}]
        stranger = make_app()
        sealed = [event async for update in stranger.watch(job.id, timeout=30) for event in update.events]
        assert [event.seq for event in sealed] == [1]
        assert "secret" not in str(sealed[0].data)
        await stranger.aclose()
