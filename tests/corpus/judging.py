"""How the corpus is judged: what is the same, what can be stored, and what is left behind."""

from __future__ import annotations

import re
from typing import Any

import psycopg

from howdah.db.readable import read_everything
from tests.conftest import Database

Sql = psycopg.Connection[Any]
#: What may not stand raw in a log or on a terminal; a line may end.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def storable(text: str) -> bool:
    """Whether PostgreSQL can hold this text."""
    return "\0" not in text and _SURROGATE.search(text) is None


def fits(text: str, least: int, most: int) -> bool:
    """Whether a column for names of this length can hold it."""
    return least <= len(text) <= most and storable(text)


def same(sent: object, got: object) -> bool:
    """Equal, and a number of the same kind; a tuple comes back as the list that it is in JSON."""
    if isinstance(sent, list | tuple):
        return isinstance(got, list) and len(got) == len(sent) and all(map(same, sent, got))
    if isinstance(sent, dict):
        return isinstance(got, dict) and sent.keys() == got.keys() and all(same(sent[key], got[key]) for key in sent)
    return type(sent) is type(got) and sent == got


def reading(database: Database) -> Sql:
    """A connection that reads whatever stands in the table."""
    connection = database.connect()
    read_everything(connection)
    return connection


def count(sql: Sql, what: str = "jobs") -> int:
    """How many rows."""
    row = sql.execute(f"SELECT count(*) FROM {what}".encode()).fetchone()
    assert row is not None
    return int(row[0])


def unended(sql: Sql) -> int:
    """Jobs that have not ended."""
    return count(sql, "jobs WHERE status NOT IN ('completed', 'failed', 'cancelled')")


def nothing_is_left(sql: Sql) -> None:
    """No job waits or is held, no line has a row, nobody claims anything."""
    left = {what: count(sql, what) for what in ("ready", "scheduled", "claims")}
    assert {**left, "jobs": unended(sql)} == {"ready": 0, "scheduled": 0, "claims": 0, "jobs": 0}
