"""A time limit for the statements of one transaction, which then only reads."""

from __future__ import annotations

from datetime import timedelta
from typing import TypeVar

from howdah.db.op import Operation, Statement

T = TypeVar("T")


def limit_time(limit: timedelta) -> Operation[None]:
    """From here to the end of the transaction, no statement takes longer. Set inside the transaction, so that it also
    holds behind a pooler in transaction mode."""
    milliseconds = max(1, int(limit / timedelta(milliseconds=1)))
    yield Statement("db/limit_time", {"milliseconds": str(milliseconds)})


def within(limit: timedelta | None, operation: Operation[T]) -> Operation[T]:
    """The operation with that limit set before it; call it inside a transaction. None: as it is."""
    if limit is not None:
        yield from limit_time(limit)
    return (yield from operation)
