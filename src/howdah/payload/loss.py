"""What would be lost silently: a subclass read back as its parent, a key that no field takes."""

from __future__ import annotations

from typing import Any

import msgspec

from howdah.payload.fault import Fault
from howdah.payload.fields import field_names


def refuse_loss(value: object, back: object) -> None:
    """Raise Fault where the value that comes back has lost something of the one that went in."""
    if isinstance(value, dict):
        _refuse_lost_items(value, back)
    elif isinstance(value, list | tuple):
        # A set has no order to compare in, and what it holds is seldom more than a scalar.
        if isinstance(back, list | tuple):
            for index, (item, item_back) in enumerate(zip(value, back, strict=False)):
                _inside(index, item, item_back)
    elif (names := field_names(type(value))) is not None or _is_model(value):
        if type(back) is not type(value):
            raise Fault(
                f"is a {type(value).__name__}, which would come back as a {type(back).__name__}",
                wrong_type=True,
            )
        # A model was compared as a whole when pydantic dumped it.
        for name in names or ():
            _inside(name, getattr(value, name), getattr(back, name))


def _refuse_lost_items(value: dict[Any, object], back: object) -> None:
    if isinstance(back, dict):
        for key, item in value.items():
            if key in back:
                _inside(str(key), item, back[key])
            elif len(back) < len(value):
                raise Fault(f"has the key {str(key)[:80]!r}, which its type does not", wrong_type=True)
    # A Struct may read a field under another name than its own.
    elif (names := field_names(type(back))) is not None and not isinstance(back, msgspec.Struct):
        for key in value:
            if key not in names:
                raise Fault(f"has the key {str(key)[:80]!r}, which its type does not", wrong_type=True)


def _inside(step: str | int, value: object, back: object) -> None:
    try:
        refuse_loss(value, back)
    except Fault as fault:
        raise fault.inside(step) from None


def _is_model(value: object) -> bool:
    return hasattr(type(value), "__pydantic_validator__")
