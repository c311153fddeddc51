"""What goes in comes out: the same value, of the same type."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import math
import pathlib
import uuid
import zoneinfo
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, NewType, TypedDict

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.payload.json_text import from_json, to_json
from tests.payload.payload_cases import name_of_case, repeatable, taking, there_and_back


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Mood(enum.StrEnum):
    CALM = "calm"


class Point(NamedTuple):
    x: int
    day: dt.date


class Row(TypedDict, total=False):
    id: int
    day: dt.date


@dataclasses.dataclass(frozen=True)
class Price:
    amount: Decimal
    at: dt.datetime | None = None


@dataclasses.dataclass
class Order:
    id: uuid.UUID
    prices: list[Price]
    colours: dict[Colour, int] = dataclasses.field(default_factory=dict)
    parts: list[Order] = dataclasses.field(default_factory=list)


class Cat(msgspec.Struct, tag="cat", rename="camel"):
    lives_left: int
    name: str | msgspec.UnsetType = msgspec.UNSET


class Dog(msgspec.Struct, tag="dog", array_like=True):
    name: str


VideoId = NewType("VideoId", int)
ID = uuid.UUID("11d0e136-81a6-48ff-9dbd-093cbe05e64c")
PRICE = Price(Decimal("1.10"), dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC))

CASES: list[tuple[Any, object]] = [
    (int, 2**200),
    (int, -(10**4299)),
    (int | None, None),
    (float, 5e-324),
    (float, 1.7976931348623157e308),
    (bool, True),
    (bytes, b"\x00\xff"),
    (Decimal, Decimal("1.10")),
    (Decimal, Decimal("-1E+500")),
    (uuid.UUID, ID),
    (dt.datetime, dt.datetime(2024, 1, 1, 1, 2, 3, 4)),
    (dt.datetime, dt.datetime(2024, 1, 1, tzinfo=dt.UTC)),
    (dt.datetime, dt.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo("Asia/Kathmandu"))),
    (dt.date, dt.date.max),
    (dt.time, dt.time(1, 2, 3, 4, tzinfo=dt.UTC)),
    (dt.timedelta, dt.timedelta(days=-5, microseconds=1)),
    (dt.timedelta, dt.timedelta.max),
    (Colour, Colour.BLUE),
    (Level, Level.HIGH),
    (Mood, Mood.CALM),
    (Literal["a", 1, None], 1),
    (VideoId, 7),
    (Annotated[int, msgspec.Meta(ge=3)], 3),
    (int | str, "5"),
    (Colour | int, Colour.RED),
    (list[uuid.UUID], [ID, ID]),
    (tuple[int, str], (1, "a")),
    (tuple[dt.date, ...], (dt.date.min,)),
    (set[str], {"b", "a"}),
    (frozenset[Level], frozenset({Level.LOW})),
    (set[Price], {PRICE, Price(Decimal(2))}),
    (Sequence[int], [1, 2]),
    (Mapping[str, float], {"a": 1.5}),
    (dict[int, str], {1: "a", 2**80: "b"}),
    (dict[uuid.UUID, list[Price]], {ID: [PRICE]}),
    (dict[dt.date, int], {dt.date(2024, 1, 1): 1}),
    (dict[Colour, Mood], {Colour.RED: Mood.CALM}),
    (dict[str, object], {"a": [1, {"b": None}]}),
    (Point, Point(1, dt.date(2024, 1, 1))),
    (Row, {"id": 1, "day": dt.date(2024, 1, 1)}),
    (Price | None, PRICE),
    (Order, Order(ID, [PRICE], {Colour.RED: 1}, [Order(ID, [])])),
    (Cat, Cat(9)),
    (list[Cat], [Cat(9, "Tom")]),
    (Dog, Dog("Rex")),
    (pathlib.Path, pathlib.Path("/a/b")),
    (list[pathlib.PurePosixPath], [pathlib.PurePosixPath("a")]),
    (dict, {"a": 1}),
    (list, [1, "a"]),
    (Any, {"a": [1, 2.5, None, True, {"b": "ü"}]}),
    (object, [1]),
]


@pytest.mark.parametrize(("annotation", "value"), CASES, ids=[name_of_case(case) for case in CASES])
def test_a_typed_value_comes_back_as_it_went_in(annotation: Any, value: object) -> None:
    back = there_and_back(annotation, value)
    assert back == value
    assert type(back) is type(value)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=20,
)


@repeatable
@given(json_values)
def test_plain_values_round_trip_untyped(value: object) -> None:
    assert repr(there_and_back(Any, value)) == repr(value)


@repeatable
@given(json_values)
def test_results_round_trip_through_text(value: object) -> None:
    assert repr(from_json(to_json(value, what="result"))) == repr(value)


@repeatable
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_round_trip_exactly(value: float) -> None:
    back = there_and_back(float, value)
    assert isinstance(back, float)
    assert back == value
    assert math.copysign(1, back) == math.copysign(1, value)


@repeatable
@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_decimals_round_trip_exactly(value: Decimal) -> None:
    assert str(there_and_back(Decimal, value)) == str(value)


@repeatable
@given(st.integers(min_value=-(10**4000), max_value=10**4000))
def test_integers_of_any_size_round_trip(value: int) -> None:
    assert there_and_back(int, value) == value
    assert there_and_back(Any, value) == value


offsets = st.integers(-1439, 1439).map(lambda minutes: dt.timezone(dt.timedelta(minutes=minutes)))


@repeatable
@given(st.datetimes(timezones=st.none() | offsets))
def test_datetimes_round_trip_with_their_offset(value: dt.datetime) -> None:
    back = there_and_back(dt.datetime, value)
    assert isinstance(back, dt.datetime)
    assert back == value
    assert back.utcoffset() == value.utcoffset()


@repeatable
@given(st.timedeltas())
def test_timedeltas_round_trip(value: dt.timedelta) -> None:
    assert there_and_back(dt.timedelta, value) == value


@repeatable
@given(st.binary())
def test_bytes_round_trip(value: bytes) -> None:
    assert there_and_back(bytes, value) == value


@repeatable
@given(st.dictionaries(st.integers(), st.lists(st.builds(Price, st.decimals(-9, 9)), max_size=3), max_size=3))
def test_nested_dataclasses_under_integer_keys_round_trip(value: dict[int, list[Price]]) -> None:
    assert there_and_back(dict[int, list[Price]], value) == value


def test_an_integer_for_a_float_becomes_a_float() -> None:
    back = there_and_back(float, 5)
    assert back == 5.0
    assert type(back) is float


def test_a_float_that_the_database_gives_back_as_an_integer_is_still_that_float() -> None:
    # jsonb writes 1e300 as a 1 and three hundred zeros.
    assert taking(float).decode({"it": 10**300}) == ((), {"it": 1e300})


@pytest.mark.parametrize("value", [1e16, -1e16, 1e22, 1e23, -1.5e300, 1.7976931348623157e308, 123456789012345680.0])
def test_a_large_float_is_written_with_a_point_so_that_the_database_gives_a_float_back(value: float) -> None:
    # jsonb keeps the digits behind a point, and forgets an exponent: of 1e23 it would make another number.
    for text in (to_json([{"x": value}], what="result"), taking(Any).encode(([{"x": value}],), {})):
        assert "e" not in text
        assert ".0}]" in text
    assert from_json(to_json(value, what="result")) == value
    assert to_json(["1e23", 1.5e-7], what="result") == '["1e23",1.5e-7]'


def test_a_library_s_own_subclasses_are_written_as_what_they_are() -> None:
    class Stamp(dt.datetime): ...

    class Day(dt.date): ...

    class Key(uuid.UUID): ...

    class Name(str): ...

    value = [Stamp(2024, 1, 1, tzinfo=dt.UTC), Day(2024, 1, 1), Key(int=1), Name("a")]
    text = '["2024-01-01T00:00:00Z","2024-01-01","00000000-0000-0000-0000-000000000001","a"]'
    assert to_json(value, what="result") == text


def test_a_set_is_written_in_the_same_order_whatever_its_own() -> None:
    names = [f"name-{number}" for number in range(50)]
    assert from_json(to_json(set(names), what="result")) == sorted(names)
    assert from_json(to_json({10, 9, 100}, what="result")) == [9, 10, 100]
