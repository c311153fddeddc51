"""Every text as the name of a queue, of a job type and of a worker: served as it is, or refused before anything is
written."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterator

import pytest

from howdah import Howdah, OptionError, WorkerSettings
from howdah.cli.logs import ConsoleFormatter, JsonFormatter
from tests.conftest import Database
from tests.corpus import hand_made
from tests.corpus.corpus import strings
from tests.corpus.judging import CONTROL, count, fits, nothing_is_left, reading, unended
from tests.rig.waiting import until_async
from tests.rig.working import working

TEXTS = strings()
#: As many lanes as a worker is asked to serve at once here.
SERVED = 800


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What the worker writes to its log, for people and for machines."""
    stream, logger = io.StringIO(), logging.getLogger("howdah")
    handlers = [logging.StreamHandler(stream) for _ in range(2)]
    for handler, formatter in zip(handlers, (ConsoleFormatter(), JsonFormatter()), strict=True):
        handler.setFormatter(formatter)
        logger.addHandler(handler)
    level = logger.level
    logger.setLevel(logging.DEBUG)
    yield stream
    logger.setLevel(level)
    for handler in handlers:
        logger.removeHandler(handler)


def test_a_queue_is_named_as_asked_or_not_at_all(app: Howdah, database: Database) -> None:
    @app.job()
    async def wait() -> None: ...

    kept = []
    with reading(database) as sql, sql.transaction():
        for text in TEXTS:
            try:
                wait.using(queue=text, conn=sql).enqueue()
                kept.append(text)
            except OptionError:
                assert not fits(text, 1, 50)
        rows = sql.execute("SELECT queue FROM jobs ORDER BY id").fetchall()
    assert [row[0] for row in rows] == kept == [text for text in TEXTS if fits(text, 1, 50)]


async def test_a_worker_serves_types_and_queues_of_any_name(
    make_app: Callable[..., Howdah], database: Database, log: io.StringIO
) -> None:
    app, ran = make_app(), list[str]()
    names = [text for text in TEXTS if fits(text, 1, 50)]
    names = [*names[: SERVED // 2], *names[-SERVED // 2 :]]
    for text in TEXTS:
        if text and not fits(text, 1, 50):
            with pytest.raises(OptionError):
                app.job(name=text)(lambda: None)
    for number, name in enumerate(names):

        def handler(name: str = name, number: int = number) -> None:
            ran.append(name)
            if number % 10 == 0:
                raise ValueError(name)

        app.job(name=name, queue=names[-number], max_attempts=1)(handler)
    for name in names:
        app.definition(name).using(queue=name).enqueue()
    with reading(database) as sql:
        async with working(app, queues=dict.fromkeys(names), concurrency=50):
            await until_async(lambda: unended(sql) == 0, "every job has ended")
        nothing_is_left(sql)
        rows = sql.execute("SELECT job_type::text, queue::text, status FROM jobs ORDER BY id").fetchall()
    assert sorted(ran) == sorted(names)
    assert [row[:2] for row in rows] == [(name, name) for name in names]
    assert [row[2] for row in rows] == ["failed" if n % 10 == 0 else "completed" for n in range(len(names))]
    said = log.getvalue()
    assert "job failed" in said
    assert (bad := CONTROL.search(said)) is None, f"a raw control character in the log: {bad!r}"


def test_a_worker_has_any_name_that_fits_or_none() -> None:
    for text in TEXTS:
        try:
            WorkerSettings(name=text)
            assert fits(text, 1, 80), text
        except OptionError:
            assert not fits(text, 1, 80), text


async def test_workers_of_odd_names_do_their_work(make_app: Callable[..., Howdah], database: Database) -> None:
    names = [text for text in hand_made.STRINGS if fits(text, 1, 80)][::25]
    names += ["😀" * 80, "'" * 80, "\x1b[31mred", "%s", "\\"]
    with reading(database) as sql:
        for number, name in enumerate(names):
            app = make_app()

            @app.job(name="tell")
            async def tell() -> None: ...

            job = await tell.aenqueue()
            async with working(app, name=name, listen=False, maintenance=False) as worker:
                await job.await_(30)
            assert worker.worker_id.startswith(name)
            row = sql.execute("SELECT status, worker_id::text FROM jobs WHERE id = %s", (job.id,)).fetchone()
            assert row == ("completed", worker.worker_id)
            assert count(sql) == number + 1
        assert count(sql, "workers") == 0
