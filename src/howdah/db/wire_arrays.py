"""Arrays as PostgreSQL's own binary form, for connections of our own.

The driver builds array parameters item by item in Python: 500 ids, leases, results and times took it 6 ms
(docs/decisions/0004). As text they took 0.4 ms, and the server had to read every number back from its digits.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format

_UUID, _INT8, _FLOAT8, _TEXT = 2950, 20, 701, 25
_UUID_ARRAY, _INT8_ARRAY, _FLOAT8_ARRAY, _TEXT_ARRAY = 2951, 1016, 1022, 1009
_NULL = struct.pack(">i", -1)
_SIXTEEN = struct.pack(">i", 16)
_length = struct.Struct(">i").pack


class Array:
    """An array parameter: `data` is what goes over the wire."""

    __slots__ = ("data",)
    oid = 0

    def __init__(self, data: bytes) -> None:
        self.data = data


class UuidArray(Array):
    """uuid[]"""

    oid = _UUID_ARRAY


class Int8Array(Array):
    """bigint[]"""

    oid = _INT8_ARRAY


class Float8Array(Array):
    """float8[]"""

    oid = _FLOAT8_ARRAY


class TextArray(Array):
    """text[]"""

    oid = _TEXT_ARRAY


def ids(values: Sequence[bytes]) -> UuidArray:
    """Ids of 16 bytes each."""
    return UuidArray(_head(_UUID, len(values)) + b"".join([_SIXTEEN + value for value in values]))


def whole_numbers(values: Sequence[int | None]) -> Int8Array:
    """Whole numbers; cast in the .sql file where it wants smaller ones."""
    return Int8Array(_numbers(_INT8, "q", values))


def numbers(values: Sequence[float | None]) -> Float8Array:
    """Numbers."""
    return Float8Array(_numbers(_FLOAT8, "d", values))


def texts(values: Sequence[str | None]) -> TextArray:
    """Texts."""
    parts = [_head(_TEXT, len(values))]
    for value in values:
        if value is None:
            parts.append(_NULL)
        else:
            data = value.encode()
            parts += (_length(len(data)), data)
    return TextArray(b"".join(parts))


def _numbers(kind: int, code: str, values: Sequence[float | None]) -> bytes:
    head = _head(kind, len(values))
    if None in values:
        one = struct.Struct(f">i{code}").pack
        return head + b"".join([_NULL if value is None else one(8, value) for value in values])
    # Each item is its length, always 8, and the number: one call for all of them.
    items: list[float | None] = [8] * (2 * len(values))
    items[1::2] = values
    return head + struct.pack(">" + f"i{code}" * len(values), *items)


def _head(kind: int, count: int) -> bytes:
    # Dimensions, whether nulls may occur, type of the items; then for the only dimension its size and first index.
    return struct.pack(">iiIii", 1, 1, kind, count, 1) if count else struct.pack(">iiI", 0, 0, kind)


class _ArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Array) -> bytes:
        return obj.data


def _dumper(kind: type[Array]) -> type[Dumper]:
    return type(f"{kind.__name__}Dumper", (_ArrayDumper,), {"oid": kind.oid})


_DUMPERS = {kind: _dumper(kind) for kind in (UuidArray, Int8Array, Float8Array, TextArray)}


def send_arrays(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> None:
    """Make a connection take these arrays as parameters."""
    for kind, dumper in _DUMPERS.items():
        connection.adapters.register_dumper(kind, dumper)
