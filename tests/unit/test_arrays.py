"""Array parameters come out of PostgreSQL as they went in."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import psycopg
from hypothesis import given, settings
from hypothesis import strategies as st

from howdah.db import arrays

TRICKY = ["", "NULL", "null", "a,b", "{x}", '"', "\\", '\\"', " pad ", "\n\t\r", "é🐘", None, "'", "\\N", "%s", "%(x)s"]


def test_texts_with_everything_that_an_array_literal_could_stumble_over(sql: psycopg.Connection[Any]) -> None:
    assert sql.execute("SELECT %s::text[]", (arrays.texts(TRICKY),)).fetchone() == (TRICKY,)
    assert sql.execute("SELECT %s::text[]", (arrays.texts([]),)).fetchone() == ([],)


def test_ids_and_numbers(sql: psycopg.Connection[Any]) -> None:
    many = [uuid4() for _ in range(5)]
    assert sql.execute("SELECT %s::uuid[]", (arrays.ids(many),)).fetchone() == (many,)
    assert sql.execute("SELECT %s::bigint[]", (arrays.numbers([1, -(2**63), None]),)).fetchone() == (
        [1, -(2**63), None],
    )
    floats = [0.1, 1e-300, 1e300, -0.0, None]
    assert sql.execute("SELECT %s::float8[]", (arrays.numbers(floats),)).fetchone() == (floats,)


def test_any_text_at_all(sql: psycopg.Connection[Any]) -> None:
    text = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))

    @settings(max_examples=200, derandomize=True, database=None, deadline=None)
    @given(st.lists(st.none() | text))
    def come_back(values: list[str | None]) -> None:
        assert sql.execute("SELECT %s::text[]", (arrays.texts(values),)).fetchone() == (values,)

    come_back()
