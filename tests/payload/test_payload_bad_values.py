"""Every value that JSON or PostgreSQL cannot hold, at several depths, with the path in the message."""

from __future__ import annotations

import dataclasses
import datetime as dt
import threading
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec
import pytest

from howdah.model.errors import ArgumentError, PayloadError
from howdah.payload.json_text import MAX_DEPTH, from_json, to_json
from tests.payload.payload_cases import taking


@dataclasses.dataclass
class Video:
    tags: object


class Point(NamedTuple):
    x: int


@dataclasses.dataclass
class HalfMade:
    late: int = dataclasses.field(init=False)


def nested(levels: int) -> list[object]:
    value: list[object] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def endless_list() -> list[object]:
    value: list[object] = []
    value.append(value)
    return value


def endless_dict() -> dict[str, object]:
    value: dict[str, object] = {}
    value["a"] = value
    return value


BAD: list[tuple[object, str]] = [
    (float("nan"), "is NaN, which JSON cannot hold"),
    (float("inf"), "is Infinity, which JSON cannot hold"),
    (float("-inf"), "is -Infinity, which JSON cannot hold"),
    ("a\0b", "contains a NUL character (U+0000), which PostgreSQL cannot store"),
    ("\ud800", "contains a lone surrogate, which is no valid Unicode text"),
    ({"a\0": 1}, "has a key that contains a NUL character (U+0000), which PostgreSQL cannot store"),
    ({"\udfff": 1}, "has a key that contains a lone surrogate, which is no valid Unicode text"),
    ({None: 1}, "has a key of type NoneType, where JSON has strings only"),
    ({True: 1}, "has a key of type bool, where JSON has strings only"),
    ({(1, 2): 1}, "has a key of type tuple, where JSON has strings only"),
    ({1: "a", "1": "b"}, "has keys that are the same text in JSON, such as 1 and '1'"),
    (10**4300, "is an integer of more than 4300 digits"),
    (-(10**4300), "is an integer of more than 4300 digits"),
    (Decimal("NaN"), "is the decimal NaN, which is not a number that can be stored"),
    (Decimal("-Infinity"), "is the decimal -Infinity, which is not a number that can be stored"),
    (threading.Lock(), "is of type lock, which cannot be stored as JSON"),
    (ValueError("x"), "is of type ValueError, which cannot be stored as JSON"),
    (Video, "is of type type, which cannot be stored as JSON"),
    (msgspec.Raw(b"1"), "is of type Raw, which cannot be stored as JSON"),
    (
        dt.time(1, tzinfo=dt.timezone(dt.timedelta(seconds=30))),
        "has a time zone offset that is not in whole minutes; convert it to UTC first",
    ),
    (
        dt.datetime(1890, 1, 1, tzinfo=dt.timezone(dt.timedelta(seconds=1172))),
        "has a time zone offset that is not in whole minutes; convert it to UTC first",
    ),
]

PLACES: list[tuple[Callable[[object], object], str]] = [
    (lambda bad: bad, "the value"),
    (lambda bad: [0, bad], "[1]"),
    (lambda bad: {"price": bad}, "price"),
    (lambda bad: {"items": [1, 2, 3, {"price": bad}]}, "items[3].price"),
    (lambda bad: {"video": Video(("a", "b", bad))}, "video.tags[2]"),
    (lambda bad: {"a b": {"1": [[bad]]}}, "['a b']['1'][0][0]"),
    (lambda bad: {7: bad}, "['7']"),
]


@pytest.mark.parametrize(("bad", "reason"), BAD, ids=[reason for _, reason in BAD])
@pytest.mark.parametrize(("place", "path"), PLACES, ids=[path for _, path in PLACES])
def test_a_bad_result_is_named_with_its_path(
    bad: object, reason: str, place: Callable[[object], object], path: str
) -> None:
    with pytest.raises(PayloadError) as caught:
        to_json(place(bad), what="encode")
    assert str(caught.value) == f"encode: {path} {reason}"


@pytest.mark.parametrize(("bad", "reason"), BAD[:5], ids=[reason for _, reason in BAD[:5]])
@pytest.mark.parametrize("annotation", [Any, dict[str, list[object]]])
def test_a_bad_argument_is_named_with_its_path(bad: object, reason: str, annotation: Any) -> None:
    with pytest.raises(PayloadError) as caught:
        taking(annotation).encode(({"tags": [1, bad]},), {})
    assert str(caught.value) == f"handler: it.tags[1] {reason}"


@pytest.mark.parametrize("what", [(1, 2), None, 1.5, 7])
def test_an_untyped_argument_has_string_keys_only(what: object) -> None:
    with pytest.raises(PayloadError) as caught:
        taking(Any).encode(([{"x": {what: 1}}],), {})
    kind = type(what).__name__
    assert str(caught.value) == f"handler: it[0].x has a key of type {kind}, where JSON has strings only"


@pytest.mark.parametrize(
    "rich",
    [dt.date(2024, 1, 1), uuid.UUID(int=1), b"x", Decimal(1), {1}, Video(1), Point(1)],
    ids=lambda rich: type(rich).__name__,
)
def test_an_untyped_argument_is_refused_where_its_type_would_be_lost(rich: object) -> None:
    with pytest.raises(ArgumentError) as caught:
        taking(Any).encode(({"x": [rich]},), {})
    kind = type(rich).__name__
    assert str(caught.value) == (
        f"handler: it.x[0] is of type {kind}, and it is not annotated, so it takes plain JSON values only; "
        "annotate it with the type it is to have"
    )


def test_a_field_that_was_never_set_is_named() -> None:
    with pytest.raises(PayloadError, match=r"^encode: \[0\]\.late was never set$"):
        to_json([HalfMade()], what="encode")


@pytest.mark.parametrize(
    "value",
    [nested(65), nested(10**6), endless_list(), endless_dict(), Video(endless_list()), {"a": nested(10**6)}],
    ids=["65", "million", "list in itself", "dict in itself", "in a dataclass", "in a dict"],
)
def test_what_is_nested_too_deep_is_refused(value: object) -> None:
    with pytest.raises(PayloadError, match=r"… is nested more than 64 levels deep$"):
        to_json(value, what="encode")
    with pytest.raises(PayloadError, match=r"… is nested more than 64 levels deep$"):
        taking(Video).encode((value,), {})


def test_the_depth_limit_is_exact() -> None:
    assert to_json(nested(MAX_DEPTH), what="encode") == "[" * 64 + "]" * 64
    # The object that holds the arguments is the first level of what is stored.
    assert taking(Any).encode((nested(MAX_DEPTH - 1),), {}).count("[") == 63
    with pytest.raises(PayloadError, match="64 levels"):
        taking(Any).encode((nested(MAX_DEPTH),), {})


@pytest.mark.parametrize(("letter", "width"), [("x", 1), ("ü", 2), ("€", 3), ("😀", 4)])
def test_the_size_limit_is_exact_and_in_bytes(letter: str, width: int) -> None:
    text = letter * 100
    size = 100 * width + 2
    assert to_json(text, what="encode", limit=size) == f'"{text}"'
    with pytest.raises(PayloadError) as caught:
        to_json(text, what="encode", limit=size - 1)
    assert str(caught.value) == (
        f"encode: the value takes {size} bytes as JSON, and the limit is {size - 1}; "
        "store it elsewhere and pass a reference to it"
    )


def test_the_default_limit_is_256_kib() -> None:
    assert len(to_json("x" * 262_142, what="encode")) == 262_144
    with pytest.raises(PayloadError, match=r"takes 262,145 bytes as JSON, and the limit is 262,144"):
        to_json("x" * 262_143, what="encode")


def test_the_limit_of_arguments_counts_the_whole_object() -> None:
    text = '{"it":"abc"}'
    assert taking(str).encode(("abc",), {}, limit=len(text)) == text
    with pytest.raises(PayloadError, match=r"^handler: the value takes 12 bytes as JSON, and the limit is 11;"):
        taking(str).encode(("abc",), {}, limit=len(text) - 1)


@pytest.mark.timeout(20)
def test_a_small_value_that_is_endless_when_written_is_refused_early() -> None:
    value: list[object] = []
    for _ in range(60):
        value = [value, value]
    with pytest.raises(PayloadError, match="takes more than 262,144 bytes"):
        to_json(value, what="encode")
    with pytest.raises(PayloadError, match="takes more than 262,144 bytes"):
        taking(Any).encode((value,), {})


@pytest.mark.parametrize("text", ["", "{", "NaN", "[Infinity]", "[" * 10**6, "1" * 5000, b"\xff"], ids=range(7))
def test_text_that_is_no_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(PayloadError, match=r"^this is not JSON that can be read: "):
        from_json(text)


def test_each_kind_of_value_has_its_json() -> None:
    value = {
        "when": dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
        "for": dt.timedelta(hours=1),
        "raw": b"\xff",
        "price": Decimal("1.10"),
        uuid.UUID(int=1): (1, Video([None])),
        2: True,
    }
    assert to_json(value, what="encode") == (
        '{"when":"2024-01-01T00:00:00Z","for":"PT3600S","raw":"/w==","price":"1.10",'
        '"00000000-0000-0000-0000-000000000001":[1,{"tags":[null]}],"2":true}'
    )
