"""What would be lost silently: a subclass read back as its parent, a key that no field takes."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec

from howdah.payload.fault import Fault


def refuse_loss(value: object, back: object) -> None:
    """Raise Fault where the value that comes back has lost something of the one that went in."""
    if isinstance(value, dict):
        _refuse_lost_items(value, back)
    elif isinstance(value, list | tuple):
        # A set has no order to compare in, and what it holds is seldom more than a scalar.
        if isinstance(back, list | tuple):
            for index, (item, item_back) in enumerate(zip(value, back, strict=False)):
                _inside(index, item, item_back)
    elif _has_fields(value):
        if type(back) is not type(value):
            raise Fault(
                f"is a {type(value).__name__}, which would come back as a {type(back).__name__}",
                wrong_type=True,
            )
        for name in _field_names(value):
            _inside(name, getattr(value, name), getattr(back, name))


def _refuse_lost_items(value: dict[Any, object], back: object) -> None:
    if isinstance(back, dict):
        for key, item in value.items():
            if key in back:
                _inside(str(key), item, back[key])
            elif len(back) < len(value):
                raise Fault(f"has the key {str(key)[:80]!r}, which its type does not", wrong_type=True)
    elif dataclasses.is_dataclass(back):
        for key in value:
            if key not in _field_names(back):
                raise Fault(f"has the key {str(key)[:80]!r}, which its type does not", wrong_type=True)


def _inside(step: str | int, value: object, back: object) -> None:
    try:
        refuse_loss(value, back)
    except Fault as fault:
        raise fault.inside(step) from None


def _has_fields(value: object) -> bool:
    # A pydantic model has no fields in this sense: it was compared as a whole when it was dumped.
    return isinstance(value, msgspec.Struct) or dataclasses.is_dataclass(value) or _is_model(value)


def _is_model(value: object) -> bool:
    return hasattr(type(value), "__pydantic_validator__") or hasattr(type(value), "__attrs_attrs__")


def _field_names(value: Any) -> tuple[str, ...]:
    if isinstance(value, msgspec.Struct):
        return value.__struct_fields__
    if dataclasses.is_dataclass(value):
        return tuple(field.name for field in dataclasses.fields(value))
    return ()
