"""One walk that turns any value into what a JSON encoder takes, and refuses what JSON cannot hold.

The walk leaves dates, UUIDs, decimals and bytes as they are: the encoder writes them, and a check of types
that comes between must still be able to tell a UUID from a string. It recurses at most MAX_DEPTH deep.
"""

from __future__ import annotations

import datetime as dt
import enum
import math
import pathlib
import uuid
from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from typing import Any

from howdah.payload.fault import Fault
from howdah.payload.fields import fields_of
from howdah.payload.foreign import Foreign, foreign_class

MAX_DEPTH = 64
# Python itself reads no longer integer from text unless told to; a longer one could be stored but not loaded.
MAX_INT_DIGITS = 4300
_SURELY_SHORT_BITS = 14_000

NATIVE_LEAVES: tuple[type, ...] = (
    dt.datetime, dt.date, dt.time, dt.timedelta, uuid.UUID, Decimal, bytes, bytearray,
)  # fmt: skip


class Keeping(enum.Enum):
    """How much of a value must come back."""

    PLAIN = "plain"  # JSON values only, for parameters whose annotation gives nothing else back
    TYPED = "typed"  # anything that its annotation can rebuild
    SHOWN = "shown"  # anything that can be read as JSON: results and events


class TooLarge(Exception):
    """The walk met more items than the text may have bytes."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit


class Walk:
    """One walk over one value; the budget stops a value that is small in memory but endless when written."""

    __slots__ = ("_budget", "_keeping", "_limit")

    def __init__(self, keeping: Keeping, limit: int) -> None:
        self._keeping = keeping
        self._limit = limit
        self._budget = limit

    def flatten(self, value: object, depth: int) -> object:
        """The value as the encoder takes it; depth counts the containers that it is already in."""
        scalar = SCALARS.get(type(value))
        if scalar is not None:
            return scalar(value)
        match value:
            # A member of StrEnum or IntEnum is a str or an int as well, and must not be taken for a bare one.
            case enum.Enum():
                return self._enum(value, depth)
            case str():
                return _text(value)
            case int():
                return _integer(value)
            case float():
                return _float(value)
            case dict():
                return self._mapping(value, depth)
            case list() | tuple():
                if self._keeping is Keeping.PLAIN and hasattr(value, "_fields"):
                    raise Fault(f"is of type {type(value).__name__}", wrong_type=True)
                return self._items(value, depth)
        if self._keeping is Keeping.PLAIN:
            raise Fault(f"is of type {type(value).__name__}", wrong_type=True)
        return self._rich(value, depth)

    def _rich(self, value: object, depth: int) -> object:
        if isinstance(value, NATIVE_LEAVES):
            return _leaf(value)
        if isinstance(value, pathlib.PurePath):
            return _text(str(value))
        if isinstance(value, set | frozenset):
            return _in_stable_order(self._items(value, depth))
        if (fields := fields_of(value)) is not None:
            return self._mapping(fields, depth) if isinstance(fields, dict) else self._items(fields, depth)
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        foreign = foreign_class(type(value))
        if foreign is None:
            raise Fault(f"is of type {type(value).__name__}, which cannot be stored as JSON", wrong_type=True)
        return self.flatten_foreign(value, foreign, depth)

    def flatten_foreign(self, value: object, foreign: Foreign, depth: int) -> object:
        to_return = self._keeping is Keeping.TYPED
        flat = self.flatten(foreign.dump(value, to_return=to_return), depth)
        if to_return:
            foreign.refuse_loss(value, flat)
        return flat

    def _enum(self, value: enum.Enum, depth: int) -> object:
        # A handler that declares str may be given a StrEnum: that is a str to it, before and after.
        if self._keeping is Keeping.PLAIN and not isinstance(value, str | int):
            raise Fault(f"is of type {type(value).__name__}", wrong_type=True)
        return self.flatten(value.value, depth)

    def _enter(self, container: Collection[object], depth: int) -> int:
        if depth >= MAX_DEPTH:
            raise Fault(f"is nested more than {MAX_DEPTH} levels deep")
        # Each item takes at least a character. Lists that hold one list twice, sixty levels deep, would
        # otherwise be written out 2**60 times before anyone measured the text.
        self._budget -= len(container)
        if self._budget < 0:
            raise TooLarge(self._limit)
        return depth + 1

    def _items(self, items: Collection[object], depth: int) -> list[object]:
        depth = self._enter(items, depth)
        flat: list[object] = []
        for item in items:
            try:
                flat.append(self.flatten(item, depth))
            except Fault as fault:
                raise fault.inside(len(flat)) from None
        return flat

    def _mapping(self, mapping: Mapping[Any, object], depth: int) -> dict[object, object]:
        depth = self._enter(mapping, depth)
        flat: dict[object, object] = {}
        other_keys = False
        for key, value in mapping.items():
            if type(key) is str:
                plain_key: object = _key_text(key)
            else:
                plain_key = self._key(key)
                other_keys = True
            try:
                flat[plain_key] = self.flatten(value, depth)
            except Fault as fault:
                raise fault.inside(str(plain_key)) from None
        if other_keys and len({str(key) for key in flat}) < len(mapping):
            raise Fault("has keys that are the same text in JSON, such as 1 and '1'")
        return flat

    def _key(self, key: object) -> object:
        """A key that is not exactly a str: kept as it is where its annotation will read it back."""
        if isinstance(key, enum.Enum) and not (self._keeping is Keeping.PLAIN and not isinstance(key, str)):
            return self._key(key.value)
        if isinstance(key, str):
            return _key_text(key)
        if self._keeping is not Keeping.PLAIN and not isinstance(key, bool):
            if isinstance(key, int):
                return _integer(key)
            if isinstance(key, float):
                return _float(key)
            if isinstance(key, NATIVE_LEAVES) and not isinstance(key, bytearray):
                return _leaf(key)
        # The key itself is not quoted: its repr may be anything.
        raise Fault(f"has a key of type {type(key).__name__}, where JSON has strings only")


def _text(value: str) -> str:
    if "\0" in value:
        raise Fault("contains a NUL character (U+0000), which PostgreSQL cannot store")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Fault("contains a lone surrogate, which is no valid Unicode text") from None
    return value if type(value) is str else str.__str__(value)


def _key_text(key: str) -> str:
    try:
        return _text(key)
    except Fault as fault:
        raise Fault(f"has a key that {fault.reason}") from None


def _integer(value: int) -> int:
    if value.bit_length() > _SURELY_SHORT_BITS and abs(value) >= 10**MAX_INT_DIGITS:
        raise Fault(f"is an integer of more than {MAX_INT_DIGITS} digits")
    return value if type(value) is int else int(value)


def _float(value: float) -> float:
    if not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        raise Fault(f"is {name}, which JSON cannot hold")
    return value if type(value) is float else float(value)


def _leaf(value: object) -> object:
    """The value as its standard type: the encoder does not know a library's own subclass of datetime."""
    match value:
        case dt.datetime():
            _refuse_odd_offset(value.utcoffset())
            return value if type(value) is dt.datetime else dt.datetime.combine(value.date(), value.timetz())
        case dt.date():
            return value if type(value) is dt.date else dt.date(value.year, value.month, value.day)
        case dt.time():
            _refuse_odd_offset(value.utcoffset())
            return value
        case dt.timedelta():
            return dt.timedelta(value.days, value.seconds, value.microseconds)
        case Decimal():
            if not value.is_finite():
                raise Fault(f"is the decimal {value}, which is not a number that can be stored")
            return value if type(value) is Decimal else Decimal(value)
        case uuid.UUID():
            return value if type(value) is uuid.UUID else uuid.UUID(int=value.int)
    return value


def _refuse_odd_offset(offset: dt.timedelta | None) -> None:
    # Local times of before about 1930 have such offsets; ISO 8601 drops the seconds, and the instant shifts.
    if offset is not None and offset % dt.timedelta(minutes=1):
        raise Fault("has a time zone offset that is not in whole minutes; convert it to UTC first")


def _in_stable_order(flat: list[object]) -> list[object]:
    # A set of strings is ordered differently in each process; equal arguments are to give equal JSON.
    return sorted(flat, key=lambda item: (type(item).__name__, item if type(item) is int else 0, repr(item)))


def _itself(value: object) -> object:
    return value


# By exact type, because most values of most payloads are these.
SCALARS: dict[type, Callable[[Any], object]] = {
    str: _text,
    int: _integer,
    float: _float,
    bool: _itself,
    type(None): _itself,
}
