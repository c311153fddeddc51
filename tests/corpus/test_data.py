"""Every input as data, alone and in a batch, and as a result: it comes back as it went in, or nothing was written."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from howdah import ArgumentError, Howdah, PayloadError
from howdah.client.definition import JobDefinition
from tests.conftest import Database
from tests.corpus.corpus import json_texts, strings, values
from tests.corpus.judging import Sql, count, nothing_is_left, reading, same, storable, unended
from tests.rig.waiting import until_async
from tests.rig.working import working

Echo = JobDefinition[[int, Any], Any]
INPUTS: tuple[object, ...] = (*strings(), *values())
#: A value over the limit of size is told by its size, so it cannot be told here.
LIMIT = 262_000


def make_echo(app: Howdah, seen: dict[int, object]) -> Echo:
    @app.job()
    async def echo(n: int, it: Any) -> Any:
        seen[n] = it
        return it

    return echo


async def work_off(app: Howdah, sql: Sql) -> None:
    async with working(app, concurrency=50):
        await until_async(lambda: unended(sql) == 0, "every job has ended")
    nothing_is_left(sql)


async def enqueue_each(echo: Echo, numbers: range) -> dict[int, Exception]:
    """Each alone; what was refused, and why."""
    refused: dict[int, Exception] = {}

    async def lane(mine: range) -> None:
        for n in mine:
            try:
                await echo.aenqueue(n, INPUTS[n])
            except Exception as error:
                refused[n] = error

    await asyncio.gather(*(lane(numbers[start::8]) for start in range(8)))
    return refused


@pytest.mark.parametrize("part", [0, 1])
async def test_data_comes_back_as_it_went_in_or_nothing_is_written(
    make_app: Callable[..., Howdah], database: Database, part: int
) -> None:
    app, seen = make_app(), dict[int, object]()
    numbers = range(part, len(INPUTS), 2)
    refused = await enqueue_each(make_echo(app, seen), numbers)
    assert [error for error in refused.values() if type(error) not in (ArgumentError, PayloadError)] == []
    for n in numbers:
        value = INPUTS[n]
        if isinstance(value, str) and len(json.dumps(value, ensure_ascii=False).encode(errors="replace")) < LIMIT:
            assert (n in refused) is not storable(value)
    with reading(database) as sql:
        assert count(sql) == len(numbers) - len(refused)
        await work_off(app, sql)
        rows = sql.execute("SELECT (data->>'n')::int, status, data->'it', result, attempts FROM jobs").fetchall()
    assert {row[0] for row in rows} == seen.keys() == set(numbers) - refused.keys()
    assert {row[1] for row in rows} == {"completed"}
    assert {row[4] for row in rows} == {1}
    for n, _, stored, result, _ in rows:
        assert same(INPUTS[n], stored), f"stored as {stored!r:.200}, not as {INPUTS[n]!r:.200}"
        assert same(INPUTS[n], seen[n]), f"arrived as {seen[n]!r:.200}, not as {INPUTS[n]!r:.200}"
        assert same(INPUTS[n], result), f"came back as {result!r:.200}, not as {INPUTS[n]!r:.200}"


@pytest.mark.parametrize("size", [150, 300, 2500], ids=["array", "copy", "copy in parts"])
async def test_one_bad_member_keeps_its_whole_batch_out_and_no_other(
    app: Howdah, database: Database, size: int
) -> None:
    seen: dict[int, object] = {}
    echo = make_echo(app, seen)
    good: list[int] = []
    with reading(database) as sql:
        for start in range(0, min(len(INPUTS), 4 * size), size):
            numbers = range(start, min(start + size, len(INPUTS)))
            bad = {n for n in numbers if _refuses(echo, n)}
            if bad:
                with pytest.raises((ArgumentError, PayloadError), match=rf"^item {min(bad) - start}: "):
                    await echo.aenqueue_many([{"n": n, "it": INPUTS[n]} for n in numbers])
                assert count(sql) == len(good)
            fine = [n for n in numbers if n not in bad]
            good += fine
            await echo.aenqueue_many([{"n": n, "it": INPUTS[n]} for n in fine])
            assert count(sql) == len(good)
        await work_off(app, sql)
    assert seen.keys() == set(good)
    assert [n for n in good if not same(INPUTS[n], seen[n])] == []


def _refuses(echo: Echo, n: int) -> bool:
    try:
        echo.handler.signature.encode((n, INPUTS[n]), {}, limit=262_144)
    except (ArgumentError, PayloadError):
        return True
    return False


async def test_json_that_only_the_database_can_read_fails_alone(app: Howdah, database: Database) -> None:
    seen: dict[int, object] = {}
    echo = make_echo(app, seen)
    accepted = 0
    with reading(database) as sql:
        for text in json_texts():
            before = count(sql)
            try:
                sql.execute("INSERT INTO jobs (job_type, data) VALUES ('echo', %s::text::jsonb)", (text,))
                accepted += 1
            except (psycopg.DataError, psycopg.errors.StatementTooComplex):
                assert count(sql) == before
        neighbours = await echo.aenqueue_many([{"n": -n, "it": n} for n in range(1, 300)])
        await work_off(app, sql)
        rows = sql.execute("SELECT status, attempts, last_error FROM jobs").fetchall()
    assert len(rows) == accepted + len(neighbours)
    assert accepted > 50
    for status, attempts, error in rows:
        assert (status, attempts) in (("completed", 1), ("failed", 1))
        assert status == "completed" or error.startswith(
            ("the arguments do not fit the", "the result cannot be stored")
        )
    assert all(seen[-n] == n for n in range(1, 300))
