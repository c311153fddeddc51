"""One operation, two worlds.

An operation is a generator: it yields Statements, is sent the rows of each, and returns a value. It never touches a
connection, so the same function serves blocking and async code. `perform` and `perform_async` are the only two loops
that run operations; a new driver would be a third.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

import psycopg
from psycopg.rows import tuple_row

from howdah.db.catalog import Catalog
from howdah.db.faults import without_row

Row: TypeAlias = tuple[Any, ...]
T = TypeVar("T")
#: The rows of a COPY as they are sent, given the encoding of the connection.
Copy: TypeAlias = Callable[[str], Iterable[bytes]]


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of the catalog with its parameters, or the rows that a COPY statement takes."""

    name: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    copy: Copy | None = None


Operation: TypeAlias = Generator[Statement, list[Row], T]


def perform(connection: psycopg.Connection[Any], catalog: Catalog, operation: Operation[T]) -> T:
    """Run an operation on a blocking connection."""
    try:
        statement = next(operation)
        while True:
            try:
                rows = _fetch(connection, catalog, statement)
            except psycopg.Error as error:
                statement = operation.throw(without_row(error))
            else:
                statement = operation.send(rows)
    except StopIteration as stop:
        result: T = stop.value
        return result


async def perform_async(connection: psycopg.AsyncConnection[Any], catalog: Catalog, operation: Operation[T]) -> T:
    """Run an operation on an async connection."""
    try:
        statement = next(operation)
        while True:
            try:
                rows = await _fetch_async(connection, catalog, statement)
            except psycopg.Error as error:
                statement = operation.throw(without_row(error))
            else:
                statement = operation.send(rows)
    except StopIteration as stop:
        result: T = stop.value
        return result


def _fetch(connection: psycopg.Connection[Any], catalog: Catalog, statement: Statement) -> list[Row]:
    query = catalog.text(statement.name)
    with connection.cursor(row_factory=tuple_row, binary=True) as cursor:
        if statement.copy is not None:
            with cursor.copy(query) as copy:
                for chunk in statement.copy(connection.info.encoding):
                    copy.write(chunk)
            return []
        cursor.execute(query, statement.parameters)
        return cursor.fetchall() if cursor.description is not None else []


async def _fetch_async(connection: psycopg.AsyncConnection[Any], catalog: Catalog, statement: Statement) -> list[Row]:
    query = catalog.text(statement.name)
    async with connection.cursor(row_factory=tuple_row, binary=True) as cursor:
        if statement.copy is not None:
            async with cursor.copy(query) as copy:
                for chunk in statement.copy(connection.info.encoding):
                    await copy.write(chunk)
            return []
        await cursor.execute(query, statement.parameters)
        return await cursor.fetchall() if cursor.description is not None else []
