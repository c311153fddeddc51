"""Jobs put in by COPY stand in the table as those put in by an array do, whatever they hold."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from howdah import Howdah
from howdah.client.store import COPY_FROM
from tests.conftest import Database

COLUMNS = "job_type, data, priority, queue, run_at, max_attempts, status"
TEXTS = ["", "a\tb\nc\\d\r", '"quoted"', "ünïcode €", "🐘", "\\N", "\x7f", "x" * 5000]
OPTIONS: list[dict[str, Any]] = [
    {"priority": -7, "queue": "grün\tund\nblau", "max_attempts": 9},
    {"run_at": datetime(2093, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)},
    {"run_at": datetime(2093, 1, 2, 3, 4, 5, tzinfo=UTC).astimezone()},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_a_copied_job_is_the_same_as_one_from_an_array(
    app: Howdah, sql: psycopg.Connection[Any], options: dict[str, Any]
) -> None:
    @app.job(name="größe")
    def keep(text: str) -> None: ...

    few = keep.using(**options).enqueue_many([{"text": text} for text in TEXTS])
    many = keep.using(**options).enqueue_many([{"text": TEXTS[n % len(TEXTS)]} for n in range(COPY_FROM * 6)])

    def rows(jobs: list[Any]) -> list[Any]:
        query = f"SELECT {COLUMNS} FROM jobs WHERE id = ANY (%s) ORDER BY id".encode()
        return sql.execute(query, ([job.id for job in jobs],)).fetchall()

    expected = rows(few)
    assert rows(many) == expected * (len(many) // len(few))
    assert {row[0] for row in expected} == {"größe"}


def test_a_delay_is_on_the_databases_clock(app: Howdah, sql: psycopg.Connection[Any]) -> None:
    @app.job()
    def keep(n: int) -> None: ...

    before = sql.execute("SELECT now()").fetchone()
    keep.using(delay=timedelta(hours=1, microseconds=1)).enqueue_many([{"n": n} for n in range(COPY_FROM)])
    after = sql.execute("SELECT now()").fetchone()
    due = sql.execute("SELECT DISTINCT run_at FROM jobs").fetchall()
    assert before is not None
    assert after is not None
    assert len(due) == 1
    assert before[0] <= due[0][0] - timedelta(hours=1, microseconds=1) <= after[0]
    assert sql.execute("SELECT count(*) FROM scheduled").fetchone() == (COPY_FROM,)


def test_the_callers_connection_may_have_another_encoding(
    make_app: Callable[..., Howdah], database: Database, sql: psycopg.Connection[Any]
) -> None:
    app = make_app()

    @app.job(name="größe")
    def keep(text: str) -> None: ...

    with psycopg.connect(database.direct_url, client_encoding="latin1") as connection:
        jobs = keep.using(conn=connection).enqueue_many([{"text": "ünïcode"}] * COPY_FROM)
    assert sql.execute("SELECT DISTINCT job_type, data FROM jobs").fetchall() == [("größe", {"text": "ünïcode"})]
    assert len(jobs) == COPY_FROM
