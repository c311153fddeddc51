"""How the values of one annotation are checked, stored and read back."""

from __future__ import annotations

import dataclasses
import inspect
import pathlib
import re
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from howdah.payload.fault import Fault
from howdah.payload.flatten import NATIVE_LEAVES, SCALARS, Keeping, Walk
from howdah.payload.foreign import Foreign, foreign_class, foreign_type
from howdah.payload.loss import refuse_loss

# A value of exactly one of these types is its own JSON and needs no check beyond its type. An int is no
# member of float's set: it fits, but has to become a float on the way back.
_SCALARS: frozenset[Any] = frozenset({str, int, float, bool, types.NoneType})
_ARRAYS: frozenset[Any] = frozenset({list, tuple, Sequence})
_OBJECTS: frozenset[Any] = frozenset({dict, Mapping})
_PLAIN: frozenset[Any] = _SCALARS | _ARRAYS | _OBJECTS | {Any, object}

_QUOTED = re.compile(r"(?s)\A(Invalid (?:enum )?value) .*?(?= - at `|\Z)")
_AT = re.compile(r"(?s)(?P<reason>.*) - at `(?P<key>key` in `)?\$(?P<where>.*)`\Z")


class Undecodable(Exception):
    """No value of this annotation can be read back from JSON."""


@dataclasses.dataclass(frozen=True, slots=True)
class Coder:
    """The coder of one annotation."""

    annotation: Any
    keeping: Keeping
    exact: frozenset[type] = frozenset()
    foreign: Foreign | None = None

    @property
    def declared(self) -> str:
        """The annotation as its author would write it; empty where there is none."""
        return "" if self.annotation is Any else inspect.formatannotation(self.annotation)

    def store(self, value: object, limit: int) -> object:
        """The value as the JSON encoder takes it; raises Fault unless it will come back the same."""
        kind = type(value)
        if kind in self.exact:
            return SCALARS[kind](value)
        walk = Walk(self.keeping, limit)
        # The arguments object is a level of its own, so that what is stored is never deeper than the limit.
        if self.foreign is not None:
            return walk.flatten_foreign(value, self.foreign, depth=1)
        flat = walk.flatten(value, depth=1)
        if type(flat) not in self.exact and self.annotation is not Any:
            back = self._convert(flat, builtin_types=NATIVE_LEAVES)
            if self.keeping is Keeping.TYPED:
                refuse_loss(value, back)
                # A decimal fits a float while it is a decimal; written as JSON it is a string.
                self._convert(msgspec.to_builtins(flat, str_keys=True))
        return flat

    def load(self, plain: object) -> object:
        """The typed value of plain JSON; raises Fault where it does not fit."""
        if type(plain) in self.exact or self.annotation is Any:
            return plain
        if self.foreign is None:
            return self._convert(plain)
        try:
            return self.foreign.load(plain)
        except ValueError as error:
            raise _fault(error) from None

    def _convert(self, plain: object, builtin_types: tuple[type, ...] = ()) -> Any:
        try:
            return msgspec.convert(
                plain, self.annotation, builtin_types=builtin_types, dec_hook=_load_custom, str_keys=True
            )
        except (ValueError, RecursionError) as error:
            raise _fault(error) from None


def coder_for(annotation: Any) -> Coder:
    """The coder of an annotation; raises Undecodable where there can be none."""
    if annotation is Any or annotation is object:
        return Coder(Any, Keeping.PLAIN)
    try:
        _refuse_constraints(annotation)
        _refuse_unknown(msgspec.inspect.type_info(annotation), set())
    except (TypeError, NameError, Undecodable) as error:
        foreign = foreign_type(annotation)
        if foreign is None:
            raise Undecodable(str(error)) from None
        return Coder(annotation, Keeping.TYPED, foreign=foreign)
    keeping = Keeping.PLAIN if _is_plain(annotation) else Keeping.TYPED
    return Coder(annotation, keeping, exact=_exact_types(annotation))


def _is_plain(annotation: Any) -> bool:
    """Whether all that this annotation gives back are plain JSON values, so that nothing else may go in."""
    annotation = _bare(annotation)
    if isinstance(annotation, type) or annotation is Any:
        return annotation in _PLAIN
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return True
    if origin in _OBJECTS:
        return not arguments or (_bare(arguments[0]) is str and _is_plain(arguments[1]))
    if origin in _ARRAYS or _is_union(origin):
        return all(argument is Ellipsis or _is_plain(argument) for argument in arguments)
    return False


def _exact_types(annotation: Any) -> frozenset[type]:
    # A constraint in Annotated has to be checked: it leaves no type that is right by itself.
    if isinstance(annotation, type):
        return frozenset({annotation}) & _SCALARS
    if _is_union(typing.get_origin(annotation)):
        return frozenset().union(*map(_exact_types, typing.get_args(annotation)))
    return frozenset()


def _is_union(origin: Any) -> bool:
    return origin is typing.Union or origin is types.UnionType


def _bare(annotation: Any) -> Any:
    while True:
        if typing.get_origin(annotation) is typing.Annotated:
            annotation = typing.get_args(annotation)[0]
        elif isinstance(annotation, typing.NewType):
            annotation = annotation.__supertype__
        else:
            return annotation


def _refuse_constraints(annotation: Any) -> None:
    """Raise Undecodable for what msgspec would ignore: Annotated[int, pydantic.Field(gt=0)]."""
    for extra in getattr(annotation, "__metadata__", ()):
        if type(extra).__module__.partition(".")[0] in ("pydantic", "annotated_types"):
            raise Undecodable("its constraints are pydantic's, and pydantic is not installed")


def _refuse_unknown(part: object, seen: set[int]) -> None:
    """Raise Undecodable where a type, or a field of it, is one that nobody here can read back."""
    if isinstance(part, tuple | list):
        for item in part:
            _refuse_unknown(item, seen)
    elif isinstance(part, msgspec.inspect.CustomType):
        if part.cls is not object and not issubclass(part.cls, pathlib.PurePath) and not foreign_class(part.cls):
            raise Undecodable(f"a {part.cls.__name__} cannot be read back from JSON")
    elif isinstance(part, msgspec.inspect.Type | msgspec.inspect.Field) and id(part) not in seen:
        # A type may contain itself.
        seen.add(id(part))
        for name in part.__struct_fields__:
            _refuse_unknown(getattr(part, name), seen)


def _load_custom(kind: Any, plain: object) -> Any:
    """What msgspec asks for a type that it does not know."""
    if kind is object:
        return plain
    if issubclass(kind, pathlib.PurePath):
        if not isinstance(plain, str):
            raise ValueError(f"Expected `str`, got `{type(plain).__name__}`")
        return kind(plain)
    foreign = foreign_class(kind)
    if foreign is None:
        raise ValueError(f"a {kind.__name__} cannot be read back from JSON")
    return foreign.load(plain)


def _fault(error: Exception) -> Fault:
    # The one message of msgspec's that quotes a value; errors are logged, and values are not.
    reason, where, key = _QUOTED.sub(r"\1", str(error)), "", ""
    # An error inside a model has two paths, that to the model being the last.
    while found := _AT.match(reason):
        reason = found["reason"]
        where += found["where"]
        key = " as a key" if found["key"] else key
    return Fault(f"does not fit: {reason[:1].lower()}{reason[1:]}{key}", wrong_type=True, where=where)
