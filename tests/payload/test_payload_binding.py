"""Arguments bound as Python binds them, stored by name, and given back to the handler."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypedDict

import pytest

from howdah.model.errors import ArgumentError
from howdah.payload.signature import HandlerSignature, read_signature
from tests.payload.payload_cases import Context, taking


def encode_video(ctx: Context, video_id: int, preset: str = "hd", *, tags: list[str] | None = None) -> None: ...
def positional(a: int, b: int = 2, /, c: int = 3) -> None: ...
def variadic(a: int, *days: dt.date, flag: bool = False, **extra: dt.date) -> None: ...
def open_ended(ctx: Context, **extra: int) -> None: ...
def untyped(a, b=1, *rest, **more): ...  # type: ignore[no-untyped-def]  # as handlers may be written


def read(function: Callable[..., object]) -> HandlerSignature:
    return read_signature(function, Context)


@dataclass
class Point:
    x: int


@dataclass
class Point3(Point):
    z: int = 0


class Row(TypedDict):
    x: int


DAY = dt.date(2024, 1, 1)


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "text"),
    [
        (encode_video, (42,), {}, '{"video_id":42}'),
        (encode_video, (42,), {"preset": "4k"}, '{"video_id":42,"preset":"4k"}'),
        (encode_video, (42, "4k"), {"tags": ["a"]}, '{"video_id":42,"preset":"4k","tags":["a"]}'),
        (encode_video, (), {"video_id": 42, "tags": None}, '{"video_id":42,"tags":null}'),
        (positional, (1,), {"c": 5}, '{"a":1,"c":5}'),
        (variadic, (1, DAY, DAY), {}, '{"a":1,"days":["2024-01-01","2024-01-01"]}'),
        (variadic, (1,), {"flag": True, "due": DAY}, '{"a":1,"flag":true,"due":"2024-01-01"}'),
        (untyped, (1, 2, 3), {"x": None}, '{"a":1,"b":2,"rest":[3],"x":null}'),
    ],
)
def test_arguments_are_stored_by_name_without_defaults(
    function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object], text: str
) -> None:
    assert read(function).encode(args, kwargs) == text


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "expected"),
    [
        (encode_video, (42, "4k"), {}, ((), {"video_id": 42, "preset": "4k"})),
        (positional, (1,), {"c": 5}, ((1, 2), {"c": 5})),
        (positional, (1, 7), {}, ((1, 7), {})),
        (variadic, (1, DAY), {"due": DAY}, ((1, DAY), {"due": DAY})),
        (variadic, (1,), {}, ((), {"a": 1})),
        (untyped, (1, 2, 3), {"x": 4}, ((1, 2, 3), {"x": 4})),
    ],
)
def test_the_handler_can_be_called_with_what_comes_back(
    function: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    expected: tuple[tuple[object, ...], dict[str, object]],
) -> None:
    signature = read(function)
    back = signature.decode(json.loads(signature.encode(args, kwargs)))
    assert back == expected
    context = (Context(),) if signature.takes_context else ()
    function(*context, *back[0], **back[1])


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "message"),
    [
        (encode_video, (), {}, "encode_video: missing argument 'video_id'"),
        (encode_video, (), {"preset": "x"}, "encode_video: missing argument 'video_id'"),
        (encode_video, (1, "a", 3), {}, "encode_video: takes 2 arguments by position, got 3"),
        (encode_video, (1,), {"zzz": 1}, "encode_video: takes no argument 'zzz'"),
        (
            encode_video,
            (1,),
            {"presett": "x"},
            "encode_video: takes no argument 'presett'; did you mean 'preset'?",
        ),
        (encode_video, (1,), {"video_id": 2}, "encode_video: got 'video_id' both by position and by name"),
        (encode_video, (1,), {"ctx": 2}, "encode_video: takes no argument 'ctx'"),
        (positional, (), {"a": 1}, "positional: takes 'a' by position only"),
        (variadic, (1,), {"days": DAY}, "variadic: takes no argument 'days'"),
    ],
)
def test_arguments_that_do_not_bind_are_named(
    function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object], message: str
) -> None:
    with pytest.raises(ArgumentError) as caught:
        read(function).encode(args, kwargs)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        (int, "5", "it does not fit: expected `int`, got `str`; it is declared as int"),
        (int, True, "it does not fit: expected `int`, got `bool`; it is declared as int"),
        (int, 5.0, "it does not fit: expected `int`, got `float`; it is declared as int"),
        (int, None, "it does not fit: expected `int`, got `null`; it is declared as int"),
        (float, True, "it does not fit: expected `float`, got `bool`; it is declared as float"),
        (float, 10**400, "it does not fit: number out of range; it is declared as float"),
        (bool, 1, "it does not fit: expected `bool`, got `int`; it is declared as bool"),
        (str, 5, "it does not fit: expected `str`, got `int`; it is declared as str"),
        (str, b"x", "it is of type bytes; it is declared as str"),
        (bytes, "abcd", "it does not fit: expected `bytes`, got `str`; it is declared as bytes"),
        (list[int], [1, "2"], "it[1] does not fit: expected `int`, got `str`; it is declared as list[int]"),
        (list[str], ["a", DAY], "it[1] is of type date; it is declared as list[str]"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_at_enqueue(annotation: Any, value: object, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        taking(annotation).encode((value,), {})
    assert str(caught.value) == f"handler: {message}"


def test_a_decimal_does_not_pass_for_a_float_beside_a_date() -> None:
    # It is a number in Python but a string in JSON, where it would be taken for the date.
    with pytest.raises(ArgumentError, match=r"^handler: it\[0\] does not fit"):
        taking(list[float | dt.date]).encode(([Decimal("1.5")],), {})


def test_a_key_that_the_type_does_not_have_is_refused_rather_than_dropped() -> None:
    with pytest.raises(ArgumentError, match=r"^handler: it\[0\] has the key 'y', which its type does not;"):
        taking(list[Point]).encode(([{"x": 1, "y": 2}],), {})
    with pytest.raises(ArgumentError, match=r"^handler: it\[0\] has the key 'y', which its type does not;"):
        taking(list[Row]).encode(([{"x": 1, "y": 2}],), {})
    with pytest.raises(ArgumentError, match=r"^handler: it\[0\] is a Point3, which would come back as a Point;"):
        taking(list[Point]).encode(([Point3(1)],), {})


def test_the_value_of_an_extra_argument_is_checked_too() -> None:
    with pytest.raises(ArgumentError, match=r"^variadic: due does not fit: expected `date`, got `int`"):
        read(variadic).encode((1,), {"due": 5})
    with pytest.raises(ArgumentError, match=r"^variadic: days\[1\] does not fit: expected `date`, got `int`"):
        read(variadic).encode((1, DAY, 5), {})


@pytest.mark.parametrize(
    ("function", "data", "message"),
    [
        (encode_video, [1], "encode_video: the stored arguments are no JSON object"),
        (encode_video, None, "encode_video: the stored arguments are no JSON object"),
        (encode_video, {}, "encode_video: the stored arguments have no 'video_id'"),
        (encode_video, {"video_id": 1, "x": 2}, "encode_video: the handler no longer takes 'x'"),
        (open_ended, {"ctx": 2}, "open_ended: the handler no longer takes 'ctx'"),
        (encode_video, {"video_id": 1, "ctx": 2}, "encode_video: the handler no longer takes 'ctx'"),
        (
            encode_video,
            {"video_id": "1"},
            "encode_video: video_id does not fit: expected `int`, got `str`; video_id is declared as int",
        ),
        (
            variadic,
            {"a": 1, "due": 5},
            "variadic: due does not fit: expected `date`, got `int`; due is declared as datetime.date",
        ),
    ],
)
def test_stored_arguments_that_no_longer_fit_are_named(
    function: Callable[..., object], data: object, message: str
) -> None:
    with pytest.raises(ArgumentError) as caught:
        read(function).decode(data)
    assert str(caught.value) == message


def test_a_default_that_changes_applies_to_jobs_already_stored() -> None:
    def before(a: int, b: int = 1) -> None: ...
    def after(a: int, b: int = 2) -> int:
        return b

    args, kwargs = read(after).decode(json.loads(read(before).encode((1,), {})))
    assert after(*args, **kwargs) == 2  # type: ignore[arg-type]  # decoded: of what types, only the signature knows
