"""What a handler's annotations mean, however they are written."""

from __future__ import annotations

import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any


class Unresolved:
    """An annotation that names something which cannot be found."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def resolve(function: Callable[..., object]) -> dict[str, Any]:
    """Each annotated parameter's type; Unresolved where the annotation is text that cannot be evaluated."""
    target = _annotated_function(function)
    try:
        return typing.get_type_hints(target, include_extras=True)
    except (NameError, AttributeError, TypeError, SyntaxError):
        # One name that exists only for a type checker must not hide the types of the other parameters.
        raw: Mapping[str, Any] = getattr(target, "__annotations__", {})
        local = _names_where_defined(target)
        return {name: _resolve_one(value, target, local) for name, value in raw.items()}


def is_context(annotation: Any, context_type: type) -> bool:
    """Whether the annotation asks for the context, be it optional, annotated or with type arguments."""
    if isinstance(annotation, Unresolved):
        return annotation.text.strip("'\"").rpartition(".")[2] == context_type.__name__
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return is_context(typing.get_args(annotation)[0], context_type)
    if origin is typing.Union or origin is types.UnionType:
        others = [argument for argument in typing.get_args(annotation) if argument is not types.NoneType]
        return len(others) == 1 and is_context(others[0], context_type)
    return annotation is context_type or origin is context_type


def _annotated_function(function: Callable[..., object]) -> Any:
    """The function whose annotations count: of a partial the inner one, of an object its __call__."""
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, types.MethodType):
        function = function.__func__
    function = inspect.unwrap(function)
    return function if inspect.isroutine(function) else type(function).__call__


def _names_where_defined(function: Any) -> dict[str, Any]:
    """The local names of the call that is defining the function, if it is being defined inside one.

    A handler in a test or an app factory may name a class that lives next to it in the same function body;
    get_type_hints sees module names only.
    """
    scope = getattr(function, "__globals__", None)
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals is scope:
            return dict(frame.f_locals) if frame.f_locals is not scope else {}
        frame = frame.f_back
    return {}


def _resolve_one(annotation: Any, function: Any, local: dict[str, Any]) -> Any:
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    scope = getattr(function, "__globals__", {})
    try:
        return typing.get_type_hints(holder, globalns=scope, localns=local or None, include_extras=True)["it"]
    except (NameError, AttributeError, TypeError, SyntaxError):
        return Unresolved(str(annotation))
