"""What is read from a handler's signature, however it is written.

Handlers here are written as users write them, also in ways that this house does not: hence the ignores.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, Iterable, Optional, TypeVar, Union  # noqa: UP035

import pytest

from howdah.model.errors import OptionError
from howdah.payload.signature import read_signature
from tests.payload.payload_cases import Context

if TYPE_CHECKING:
    from decimal import Decimal as OnlyForTheTypeChecker

    from tests.payload.payload_cases import Context as HiddenContext

T = TypeVar("T")


class TypedContext(Generic[T]):
    pass


@dataclass
class Video:
    id: int


def plain(ctx: Context, a: int) -> None: ...
async def in_async(ctx: Context, a: int) -> None: ...
def old_optional(ctx: Optional[Context], a: int) -> None: ...  # noqa: UP045
def new_optional(ctx: Context | None, a: int) -> None: ...
def old_union(ctx: Union[Context, None], a: int) -> None: ...  # noqa: UP007
def annotated(ctx: Annotated[Context, "note"], a: int) -> None: ...
def positional_only(ctx: Context, /, a: int) -> None: ...
def quoted(ctx: "Context", a: int) -> None: ...  # noqa: UP037
def without(a: int) -> None: ...
def by_name_only(context: int, a: int) -> None: ...
def no_parameters() -> None: ...
def bare(ctx, a): ...  # type: ignore[no-untyped-def]


class Callables:
    def method(self, ctx: Context, a: int) -> None: ...

    @staticmethod
    def static(ctx: Context, a: int) -> None: ...

    @classmethod
    def of_class(cls, ctx: Context, a: int) -> None: ...

    def __call__(self, ctx: Context, a: int) -> None: ...


@functools.wraps(plain)
def wrapped(*args: Any, **kwargs: Any) -> None: ...


def wrapped_by_hand(*args: Any, **kwargs: Any) -> None: ...


vars(wrapped_by_hand)["__wrapped__"] = plain

WITH_CONTEXT: list[Callable[..., object]] = [
    plain,
    in_async,
    old_optional,
    new_optional,
    old_union,
    annotated,
    positional_only,
    quoted,
    Callables().method,
    Callables.static,
    Callables.of_class,
    Callables(),
    wrapped,
    wrapped_by_hand,
    functools.partial(plain, a=1),
    functools.partial(functools.partial(Callables()), a=1),
]


@pytest.mark.parametrize("function", WITH_CONTEXT)
def test_the_context_is_known_by_its_annotation(function: Callable[..., object]) -> None:
    signature = read_signature(function, Context)
    assert signature.takes_context is True
    assert signature.encode((), {"a": 7}) == '{"a":7}'


@pytest.mark.parametrize("function", [without, functools.partial(plain, Context())])
def test_without_the_annotation_no_context_is_passed(function: Callable[..., object]) -> None:
    signature = read_signature(function, Context)
    assert signature.takes_context is False
    assert signature.encode((7,), {}) == '{"a":7}'


def test_a_name_like_context_is_a_parameter_like_any_other() -> None:
    assert read_signature(by_name_only, Context).encode((1, 2), {}) == '{"context":1,"a":2}'
    assert read_signature(bare, Context).encode((1, 2), {}) == '{"ctx":1,"a":2}'
    assert read_signature(no_parameters, Context).encode((), {}) == "{}"


def test_a_context_with_type_arguments_is_known() -> None:
    def handler(ctx: TypedContext[int]) -> None: ...

    assert read_signature(handler, TypedContext).takes_context is True


def test_a_context_imported_for_the_type_checker_only_is_known_by_its_name() -> None:
    def handler(ctx: HiddenContext, video: Video) -> None: ...

    hidden = type("HiddenContext", (), {})
    signature = read_signature(handler, hidden)
    assert signature.takes_context is True
    # The one name that cannot be found does not hide the type of the other parameter.
    assert signature.decode({"video": {"id": 1}}) == ((), {"video": Video(1)})


def test_a_class_next_to_the_handler_in_a_function_is_found() -> None:
    @dataclass
    class Local:
        id: int

    def handler(ctx: Context, it: Local) -> None: ...

    assert read_signature(handler, Context).decode({"it": {"id": 1}}) == ((), {"it": Local(1)})


def context_second(a: int, ctx: Context) -> None: ...
def unresolved(a: int, b: OnlyForTheTypeChecker) -> None: ...
def lock(a: list[threading.Lock]) -> None: ...
def a_callable(a: Callable[[int], int]) -> None: ...
def one_time(a: Iterable[int]) -> None: ...
def a_class(a: type) -> None: ...


@dataclass
class Holder:
    inner: dict[str, threading.Event]


def in_a_field(ok: int, a: Holder) -> None: ...
def in_extra(**a: threading.Event) -> None: ...


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (context_second, "context_second: parameter 'ctx' is the context, which must be the first parameter"),
        (
            unresolved,
            "unresolved: parameter 'b' is annotated as OnlyForTheTypeChecker, which cannot be found",
        ),
        (lock, "lock: parameter 'a' is annotated as list["),
        (a_callable, "a_callable: parameter 'a' is annotated as"),
        (one_time, "one_time: parameter 'a' is annotated as"),
        (a_class, "a_class: parameter 'a' is annotated as type"),
        (in_a_field, "in_a_field: parameter 'a' is annotated as"),
        (in_extra, "in_extra: parameter 'a' is annotated as threading.Event"),
    ],
)
def test_a_parameter_that_no_json_can_become_is_refused_at_once(function: Callable[..., object], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        read_signature(function, Context)
    assert str(caught.value).startswith(message)


def test_a_default_of_none_lets_none_in() -> None:
    def handler(a: int = None) -> None: ...  # type: ignore[assignment]  # noqa: RUF013

    assert read_signature(handler, Context).encode((None,), {}) == '{"a":null}'
