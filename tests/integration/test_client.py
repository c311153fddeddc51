"""Enqueueing and looking: blocking and async, alone and in the caller's transaction, and every bad input."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from howdah import (
    ArgumentError,
    Howdah,
    HowdahError,
    Job,
    JobCancelled,
    JobFailed,
    JobNotFound,
    OptionError,
    PayloadError,
    Priority,
    ResultNotReady,
    UserError,
    WaitTimeout,
)
from howdah.client.client import Client
from howdah.client.store import COPY_FROM
from howdah.db.catalog import Catalog
from howdah.model.job import JobRecord
from tests.conftest import Database
from tests.rig.working import working

Sql = psycopg.Connection[Any]


class Colour(Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    when: datetime


def count(sql: Sql) -> int:
    row = sql.execute("SELECT count(*) FROM jobs").fetchone()
    assert row is not None
    return int(row[0])


def test_enqueue_writes_what_was_asked_in_one_statement(app: Howdah, sql: Sql) -> None:
    @app.job(priority=Priority.EXPLICIT, max_attempts=5, queue="videos")
    async def encode(video: int, preset: str = "hd") -> dict[str, str]:
        return {}

    job = encode.enqueue(42, preset="4k")
    row = sql.execute("SELECT job_type, priority, max_attempts, queue, data, status, run_at FROM jobs").fetchall()
    assert row == [("encode", 150, 5, "videos", {"video": 42, "preset": "4k"}, "pending", None)]
    assert job.id.version == 7
    assert app.get(job.id).record == app.get(str(job.id)).record == job.refresh().record


def test_using_changes_one_enqueue_only(app: Howdah, sql: Sql) -> None:
    @app.job()
    def work() -> None: ...

    work.using(priority=Priority.BACKFILL, queue="q", max_attempts=9, delay=timedelta(hours=1)).enqueue()
    work.enqueue()
    rows = sql.execute("SELECT priority, queue, max_attempts, run_at IS NULL FROM jobs ORDER BY id").fetchall()
    assert rows == [(30, "q", 9, False), (100, "default", 3, True)]


def test_enqueue_in_the_callers_own_transaction(app: Howdah, database: Database, sql: Sql) -> None:
    @app.job()
    def work(n: int) -> None: ...

    with psycopg.connect(database.url, prepare_threshold=None) as conn:
        work.using(conn=conn).enqueue(1)
        work.using(conn=conn).enqueue_many([{"n": n} for n in range(COPY_FROM + 1)])
        assert count(sql) == 0
        conn.rollback()
        assert count(sql) == 0
        kept = work.using(conn=conn).enqueue(2)
        conn.commit()
    assert count(sql) == 1
    assert kept.refresh().record.data == {"n": 2}


async def test_enqueue_in_the_callers_own_async_transaction(app: Howdah, database: Database, sql: Sql) -> None:
    @app.job()
    def work(n: int) -> None: ...

    async with await psycopg.AsyncConnection.connect(database.url, prepare_threshold=None) as conn:
        await work.using(conn=conn).aenqueue(1)
        await work.using(conn=conn).aenqueue_many([{"n": 1}, {"n": 2}])
        await conn.rollback()
        assert count(sql) == 0
        await work.using(conn=conn).aenqueue(2)
    assert count(sql) == 1
    with pytest.raises(TypeError, match="use aenqueue"):
        work.using(conn=conn).enqueue(3)


@pytest.mark.parametrize("many", [0, 1, COPY_FROM - 1, COPY_FROM, 12_345])
async def test_enqueue_many_all_in_order(app: Howdah, sql: Sql, many: int) -> None:
    @app.job()
    def work(n: int, text: str = "") -> None: ...

    text = 'tab\t newline\n backslash\\ quote" \\N é 🐘'
    blocking = work.enqueue_many({"n": n, "text": text} for n in range(many))
    in_async = await work.aenqueue_many([{"n": n} for n in range(many)])
    assert (len(blocking), len(in_async), count(sql)) == (many, many, 2 * many)
    rows = sql.execute("SELECT (data->>'n')::int FROM claim_job_batch('w', ARRAY['work'], %s)", (many or 1,)).fetchall()
    assert [row[0] for row in rows] == list(range(many))
    if many:
        assert app.get(blocking[-1].id).record.data == {"n": many - 1, "text": text}
    await app.aclose()


@pytest.mark.parametrize("many", [1, 2, COPY_FROM])
def test_a_delay_counts_from_the_databases_clock_and_not_from_the_callers(app: Howdah, sql: Sql, many: int) -> None:
    @app.job()
    def later() -> None: ...

    delayed = later.using(delay=timedelta(hours=1))
    if many == 1:
        delayed.enqueue()
    else:
        delayed.enqueue_many([{}] * many)
    # Both are the time of the same transaction; any other clock would be off by some microseconds at least.
    assert sql.execute("SELECT DISTINCT run_at - created_at FROM jobs").fetchall() == [(timedelta(hours=1),)]


def test_repeating_an_enqueue_with_the_same_id_changes_nothing(app: Howdah, sql: Sql) -> None:
    @app.job()
    def work(n: int) -> None: ...

    mine = uuid4()
    for n in (1, 2):
        assert work.using(job_id=mine).enqueue(n).id == mine
    assert sql.execute("SELECT data FROM jobs").fetchall() == [({"n": 1},)]


BAD_VALUES: list[tuple[Any, type[UserError], str]] = [
    (math.nan, PayloadError, "value"),
    (math.inf, PayloadError, "value"),
    ({"a": [1, {"b": -math.inf}]}, PayloadError, r"value(\.a|\['a'\])\[1\]"),
    ("a\0b", PayloadError, "value"),
    ({"k\0": 1}, PayloadError, "value"),
    ("\ud800", PayloadError, "value"),
    (object(), UserError, "value"),
    ("x" * 262_200, PayloadError, "store it elsewhere"),
]


@pytest.mark.parametrize(("bad", "kind", "named"), BAD_VALUES)
def test_values_that_json_cannot_hold_are_refused_and_nothing_is_written(
    app: Howdah, sql: Sql, bad: Any, kind: type[UserError], named: str
) -> None:
    @app.job()
    def work(value: Any) -> None: ...

    with pytest.raises(kind, match=named):
        work.enqueue(bad)
    with pytest.raises(kind, match=f"item 2: .*{named}"):
        work.enqueue_many([{"value": 1}, {"value": 2}, {"value": bad}])
    assert count(sql) == 0


@pytest.mark.parametrize(
    ("args", "kwargs", "named"),
    [
        ((), {}, "'n'"),
        ((1, 2, 3), {}, "arguments by position"),
        ((1,), {"colour": Colour.RED, "nope": 1}, "'nope'"),
        (("text",), {}, "n "),
        ((1,), {"n": 2}, "'n'"),
        ((True,), {}, "n "),
    ],
)
def test_arguments_that_do_not_fit_the_signature(app: Howdah, sql: Sql, args: Any, kwargs: Any, named: str) -> None:
    @app.job()
    def work(n: int, colour: Colour = Colour.RED) -> None: ...

    with pytest.raises(ArgumentError, match=named) as caught:
        work.enqueue(*args, **kwargs)
    assert isinstance(caught.value, TypeError)
    assert count(sql) == 0


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"priority": 2**31}, "2147483648"),
        ({"priority": -(2**31) - 1}, "-2147483649"),
        ({"priority": 1.5}, "whole number"),
        ({"queue": ""}, "1 to 50"),
        ({"queue": "q" * 51}, "51 characters"),
        ({"queue": "a\0"}, "NUL"),
        ({"delay": timedelta(seconds=-1)}, "past"),
        ({"delay": timedelta(days=40_000)}, "40000 days"),
        ({"delay": 5}, "timedelta"),
        ({"run_at": datetime(2001, 1, 1, tzinfo=UTC)}, "2001"),
        ({"run_at": datetime(9999, 1, 1, tzinfo=UTC)}, "36525 days"),
        ({"run_at": datetime(2999, 1, 1)}, "timezone"),
        ({"run_at": datetime(2099, 1, 1, tzinfo=UTC), "delay": timedelta(1)}, "not both"),
        ({"max_attempts": 0}, "max_attempts 0"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_options_outside_their_limits(app: Howdah, sql: Sql, options: dict[str, Any], named: str) -> None:
    @app.job()
    def work() -> None: ...

    with pytest.raises(UserError, match=named):
        work.using(**options).enqueue()
    assert count(sql) == 0


def test_bad_registrations(app: Howdah) -> None:
    with pytest.raises(OptionError, match="51 characters"):
        app.job(name="x" * 51)(lambda: None)

    @app.job()
    def twice() -> None: ...

    with pytest.raises(OptionError, match="registered twice"):
        app.job(name="twice")(lambda: None)
    with pytest.raises(OptionError, match="give it one"):
        app.job()(partial(print))

    with pytest.raises(OptionError, match="is a generator"):

        @app.job()
        def yields() -> Any:
            yield 1

    with pytest.raises(OptionError, match="top of a module"):

        @app.job(process=True)
        def local() -> None: ...


async def test_typed_arguments_and_results_round_trip_through_the_database(app: Howdah) -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    key = uuid4()
    seen: list[Any] = []

    @app.job()
    async def typed(
        point: Point, colour: Colour, price: Decimal, key: UUID, at: datetime, big: int, many: list[Point]
    ) -> Point:
        seen.append((point, colour, price, key, at, big, many))
        return Point(point.x + 1, point.when)

    arguments = (Point(1, moment), Colour.RED, Decimal("0.10"), key, moment, 2**80, [Point(2, moment)])
    async with working(app):
        job = await typed.aenqueue(*arguments)
        await job.await_(30)
    assert seen == [arguments]
    assert job.result == Point(2, moment)
    assert (await app.aget(job.id)).result == Point(2, moment)
    await app.aclose()


async def test_wait_result_and_their_errors(app: Howdah) -> None:
    @app.job(max_attempts=1)
    async def fails() -> None:
        raise RuntimeError("broken")

    job = await fails.using(delay=timedelta(hours=1)).aenqueue()
    with pytest.raises(ResultNotReady):
        _ = job.result
    with pytest.raises(WaitTimeout):
        await job.await_(0.05)
    with pytest.raises(TimeoutError):
        job.wait(timeout=0.05)
    await job.acancel()
    with pytest.raises(JobCancelled):
        _ = job.result
    await job.aretry()
    async with working(app):
        await job.await_(30)
    with pytest.raises(JobFailed, match="broken"):
        _ = job.result
    for call in (app.get, lambda missing: Job(missing, "x", app._client).cancel()):
        with pytest.raises(JobNotFound):
            call(uuid4())
    with pytest.raises(OptionError, match="is not a job id"):
        app.get("nonsense")
    await app.aclose()


def test_blocking_and_async_forms_are_the_same() -> None:
    for kind in (Client, Job):
        for name, method in inspect.getmembers(kind, inspect.isfunction):
            twin = "await_" if name == "wait" else f"a{name}"
            if name.startswith(("_", "a")) or not hasattr(kind, twin):
                continue
            other = getattr(kind, twin)
            assert inspect.iscoroutinefunction(other), twin
            assert inspect.signature(method) == inspect.signature(other), twin
            assert method.__doc__ == other.__doc__, twin


def test_the_record_has_the_columns_of_its_statement() -> None:
    text = Catalog().text("client/get_job").decode()
    columns = text.split("SELECT", 1)[1].split("FROM")[0].replace("\n", " ").split(",")
    assert [column.strip() for column in columns] == list(JobRecord.__dataclass_fields__)


def test_every_error_says_what_to_do_by_itself() -> None:
    def all_below(kind: type[HowdahError]) -> list[type[HowdahError]]:
        return [kind, *(deep for below in kind.__subclasses__() for deep in all_below(below))]

    for kind in all_below(HowdahError):
        assert str(kind()) == (kind.__doc__ or "").strip() != ""


@pytest.mark.parametrize("bad", [0, 1500, 2999])
def test_one_item_of_thousands_that_does_not_fit_and_nothing_is_written(app: Howdah, sql: Sql, bad: int) -> None:
    @app.job()
    async def many(n: int) -> None: ...

    items: list[dict[str, object]] = [{"n": n} for n in range(3000)]
    items[bad] = {"n": "three"}
    with pytest.raises(ArgumentError, match=f"item {bad}: many: n does not fit"):
        many.enqueue_many(items)
    assert sql.execute("SELECT count(*) FROM jobs").fetchone() == (0,)
    assert len(many.enqueue_many({"n": n} for n in range(3000))) == 3000
    assert sql.execute("SELECT count(*), sum((data->>'n')::int) FROM jobs").fetchone() == (3000, 2999 * 1500)
