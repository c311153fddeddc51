"""Types that only pydantic understands; without pydantic there are none.

Pydantic is imported when the first such type is met, so that it costs nothing to those who do not use it.
"""

from __future__ import annotations

import importlib
import inspect
import typing
from functools import cache
from typing import Any

import msgspec

from howdah.payload.fault import Fault


@cache
def _pydantic() -> Any:
    try:
        return importlib.import_module("pydantic")
    except ImportError:
        return None


class Foreign:
    """One type, as pydantic codes it."""

    __slots__ = ("_adapter", "_invalid", "_unserializable")

    def __init__(self, pydantic: Any, annotation: Any) -> None:
        self._adapter = pydantic.TypeAdapter(annotation)
        # Raises for a type that no JSON can ever satisfy, such as a callable.
        self._adapter.json_schema()
        self._invalid: Any = pydantic.ValidationError
        core = importlib.import_module("pydantic_core")
        self._unserializable: Any = core.PydanticSerializationError

    def dump(self, value: object, *, to_return: bool) -> object:
        """The value as plain JSON: to be read by anyone, or to return as a value of this type."""
        try:
            return self._adapter.dump_python(value, mode="json", by_alias=True, round_trip=to_return, warnings="error")
        except (self._unserializable, ValueError, TypeError, RecursionError) as error:
            reason = str(error).splitlines()[0]
            raise Fault(f"cannot be stored: {reason}", wrong_type=True) from error

    def refuse_loss(self, value: object, plain: object) -> None:
        """Raise Fault where the value would not come back the same: a masked secret, an ambiguous union."""
        try:
            back = self.load(plain)
        except ValueError as error:
            raise Fault(f"does not come back from JSON: {error}", wrong_type=True) from None
        if isinstance(value, _pydantic().BaseModel):
            for name, held in vars(value).items():
                if vars(back).get(name) != held:
                    raise Fault("does not come back from JSON as it went in").inside(name)
        elif back != value or type(back) is not type(value):
            raise Fault(f"comes back from JSON as another value, of type {type(back).__name__}")

    def load(self, plain: object) -> Any:
        """The typed value; raises ValueError where the plain one does not fit."""
        try:
            # The adapter has two sets of rules; those for JSON let a strict model take a date from a string.
            return self._adapter.validate_json(msgspec.json.encode(plain))
        except self._invalid as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
            raise ValueError(f"{first['msg']} - at `${where}`" if where else first["msg"]) from None


def foreign_type(annotation: Any) -> Foreign | None:
    """How pydantic codes a type; None where pydantic is absent or does not know the type either."""
    pydantic = _pydantic()
    # An abstract class has no values of its own; pydantic would read an Iterable as a one-time generator.
    if pydantic is None or inspect.isabstract(typing.get_origin(annotation) or annotation):
        return None
    errors = pydantic.errors
    try:
        return Foreign(pydantic, annotation)
    except (errors.PydanticUserError, errors.PydanticUndefinedAnnotation, TypeError, NameError):
        return None


_classes: dict[type, Foreign | None] = {}


def foreign_class(kind: type) -> Foreign | None:
    """The same for a class, remembered: building an adapter takes milliseconds."""
    try:
        return _classes[kind]
    except KeyError:
        return _classes.setdefault(kind, foreign_type(kind))
