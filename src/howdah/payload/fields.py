"""The fields of classes that are made of fields: dataclasses, msgspec.Struct and attrs."""

from __future__ import annotations

import dataclasses

import msgspec

from howdah.payload.fault import Fault

# Asking a class for its fields is slow, and its answer never changes.
_names: dict[type, tuple[str, ...] | None] = {}
_MISSING = object()


def field_names(kind: type) -> tuple[str, ...] | None:
    """The names of the fields; None for a class that is not made of fields."""
    try:
        return _names[kind]
    except KeyError:
        return _names.setdefault(kind, _read_names(kind))


def fields_of(value: object) -> dict[str, object] | list[object] | None:
    """The fields as they are written in JSON: an object, or a list for a Struct that says so."""
    names = field_names(type(value))
    if names is None:
        return None
    if isinstance(value, msgspec.Struct):
        return _struct_fields(value, names)
    return {name: _held(value, name) for name in names}


def _read_names(kind: type) -> tuple[str, ...] | None:
    if issubclass(kind, msgspec.Struct):
        return kind.__struct_fields__
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind))
    attributes = getattr(kind, "__attrs_attrs__", None)
    return None if attributes is None else tuple(attribute.name for attribute in attributes)


def _held(value: object, name: str) -> object:
    held = getattr(value, name, _MISSING)
    if held is _MISSING:
        raise Fault("was never set").inside(name)
    return held


def _struct_fields(value: msgspec.Struct, names: tuple[str, ...]) -> dict[str, object] | list[object]:
    config = value.__struct_config__
    held = [_held(value, name) for name in names]
    if config.array_like:
        return [config.tag, *held] if config.tag is not None else held
    named = zip(value.__struct_encode_fields__, held, strict=True)
    fields = {name: item for name, item in named if item is not msgspec.UNSET}
    return {config.tag_field: config.tag, **fields} if config.tag_field is not None else fields
