"""Looking never hurts the queue, and a lost database is no end."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo
from typing import Any

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from howdah import Howdah
from howdah.db import op
from howdah.db.op import Statement
from howdah.top import reading
from howdah.top.turns import Turns
from tests.conftest import Database
from tests.rig.servers import TestServer
from tests.rig.waiting import until_async
from tests.top.conftest import banner, sees, shown, text_of

Maker = Callable[..., Howdah]


async def test_a_lost_database_is_told_and_comes_back(make_app: Maker, server: TestServer, database: Database) -> None:
    async with shown(make_app) as (top, _):
        assert banner(top) == ""
        with server.admin() as admin:
            admin.execute(f"ALTER DATABASE {database.name} ALLOW_CONNECTIONS false".encode())
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (database.name,))
            await sees(top, lambda: banner(top).startswith("cannot read the database, trying again: "), "the banner")
            admin.execute(f"ALTER DATABASE {database.name} ALLOW_CONNECTIONS true".encode())
        with database.connect() as sql:
            sql.execute("SELECT enqueue_job('encode', p_queue => 'fresh')")
        await sees(top, lambda: banner(top) == "" and "fresh" in text_of(top), "the database")


async def test_what_takes_too_long_is_left_out_and_the_rest_is_shown(
    make_app: Maker, sql: psycopg.Connection[Any]
) -> None:
    async with shown(make_app) as (top, _):
        with sql.transaction(force_rollback=True):
            sql.execute("LOCK TABLE workers IN ACCESS EXCLUSIVE MODE")
            assert sql.info.transaction_status is TransactionStatus.INTRANS
            await sees(top, lambda: "not read" in str(top.workers_table.border_subtitle), "the problem")
            looks = top.looks
            await sees(top, lambda: top.looks > looks, "another look")
            assert banner(top) == ""
        await sees(top, lambda: top.workers_table.border_subtitle == "", "its end")


async def test_one_reader_and_few_statements(
    make_app: Maker, sql: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    sql.execute("SELECT enqueue_job('encode') FROM generate_series(1, 300)")
    sql.execute("SELECT claim_job_batch('plain', ARRAY['encode'], 250)")
    counted: list[str] = []
    fetch = op._fetch_async

    async def counting(connection: Any, catalog: Any, statement: Statement) -> Any:
        counted.append(statement.name)
        return await fetch(connection, catalog, statement)

    monkeypatch.setattr(op, "_fetch_async", counting)
    async with shown(make_app) as (top, _):
        assert len(top.source.snapshot.running) == 200, "the most that are listed"
        began = time.monotonic()
        counted.clear()
        await sees(top, lambda: counted.count("db/limit_time") >= 6, "six parts, each with its limit")
        seconds = time.monotonic() - began
        assert len(counted) / seconds <= 10, counted
        readers = sql.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'howdah top'").fetchone()
        assert readers == (1,)


async def test_ages_are_told_by_the_clock_of_the_server(
    make_app: Maker, sql: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Behind(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]  # it stands for the plain one
            return datetime.now(tz) - timedelta(hours=1)

    monkeypatch.setattr(reading, "datetime", Behind)
    sql.execute("INSERT INTO jobs (job_type, status, completed_at) VALUES ('mail', 'failed', now() - interval '1 day')")
    async with shown(make_app) as (top, _):
        assert top.failures.lines[0].cells[0].plain == "1d"


def test_turns() -> None:
    turns = Turns(["running", "queues", "workers"])
    assert turns.next(100.0) == ["running", "queues", "workers"]
    for name, took in (("running", 0.01), ("queues", 0.01), ("workers", 2.0)):
        turns.done(name, 100.0, 100.0 + took)
    assert turns.next(101.5) == ["running"]
    turns.done("running", 101.5, 101.5)
    assert turns.next(104.0) == ["running", "queues"]
    turns.done("queues", 104.0, 104.01)
    turns.done("running", 104.0, 104.5)
    assert turns.next(106.0) == [], "it took half a second, so it rests for more than four"
    assert turns.next(109.1) == ["running", "queues"]
    assert turns.next(120.1) == ["running", "queues"], "one at a time"
    turns.done("queues", 120.1, 120.1)
    assert turns.next(120.2) == ["running", "workers"], "eighteen seconds after it took two"
    turns.all_over()
    assert turns.next(120.3) == ["running", "queues", "workers"]


async def test_it_gives_its_connection_back(make_app: Maker, sql: psycopg.Connection[Any]) -> None:
    async with shown(make_app) as (_, pilot):
        await pilot.press("q")
    await until_async(
        lambda: (
            sql.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'howdah top'").fetchone()
            == (0,)
        ),
        "no connection",
    )
