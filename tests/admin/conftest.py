"""Jobs written by plain SQL, and operations run on the test's database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol
from uuid import UUID

import psycopg
import pytest
from psycopg.types.json import Jsonb

from howdah import Howdah
from howdah.db.op import Operation

Run = Callable[[Operation[Any]], Any]
Sql = psycopg.Connection[Any]


class Put(Protocol):
    """Writes jobs; their ids, newest first."""

    def __call__(self, count: int = 1, **columns: Any) -> list[UUID]: ...


@pytest.fixture
def run(app: Howdah) -> Run:
    return lambda operation: app.sessions.run(lambda: operation, repeatable=False)


@pytest.fixture
def put(sql: Sql) -> Put:
    def write(count: int = 1, **columns: Any) -> list[UUID]:
        values = {"job_type": "a", **columns}
        values = {name: Jsonb(value) if name in ("data", "result") else value for name, value in values.items()}
        names, places = ", ".join(values), ", ".join(f"%({name})s" for name in values)
        rows = sql.execute(
            f"INSERT INTO jobs ({names}) SELECT {places} FROM generate_series(1, %(count)s) RETURNING id".encode(),
            {**values, "count": count},
        ).fetchall()
        return sorted((row[0] for row in rows), reverse=True)

    return write
