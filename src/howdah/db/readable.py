"""Values that plain SQL may store and Python cannot hold: reading a job, or a page of jobs, must not fail for
them.

Infinity, and years past 9999, are read as the last or first moment that a datetime can say; a whole number
of more digits than Python converts is read as a Decimal; JSON nested deeper than Python reads is given as its text.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import psycopg
from psycopg.abc import Buffer
from psycopg.errors import DataError
from psycopg.types.datetime import TimestamptzBinaryLoader
from psycopg.types.json import set_json_loads

_LAST = datetime.max.replace(tzinfo=UTC)
_FIRST = datetime.min.replace(tzinfo=UTC)


class BoundedTimestamptzLoader(TimestamptzBinaryLoader):
    """Reads a timestamptz, bounded to what datetime can hold."""

    def load(self, data: Buffer) -> datetime:
        """The time, or the nearest one that exists in Python."""
        try:
            return super().load(data)
        except DataError:
            # Binary timestamps are microseconds from 2000 as a signed 64-bit number.
            return _FIRST if int.from_bytes(bytes(data), signed=True) < 0 else _LAST


def read_everything(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> None:
    """Make a connection read whatever may stand in the table."""
    connection.adapters.register_loader("timestamptz", BoundedTimestamptzLoader)
    set_json_loads(_loads, connection)


def _loads(data: str | bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return json.loads(data, parse_int=Decimal)
    except RecursionError:
        return data if isinstance(data, str) else bytes(data).decode()
