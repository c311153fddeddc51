"""Any value as compact JSON text, and the text as plain values."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from howdah.model.errors import PayloadError
from howdah.payload.fault import Fault
from howdah.payload.flatten import MAX_DEPTH, Keeping, TooLarge, Walk

__all__ = ["MAX_DEPTH", "from_json", "to_json", "too_large", "write_text"]

_encoder = msgspec.json.Encoder()
#: From here on the encoder writes a float with an exponent; below, with a point.
_FIRST_WITH_EXPONENT = 1e16
#: It may stand in a string as well; then the second look costs time and changes nothing.
_MAYBE_EXPONENT = re.compile(rb"[0-9]e[0-9]")


def to_json(value: object, *, what: str, limit: int = 262_144) -> str:
    """The value as compact JSON text of at most `limit` bytes; `what` says in an error whose value it is."""
    try:
        flat = Walk(Keeping.SHOWN, limit).flatten(value, 0)
    except Fault as fault:
        raise PayloadError(f"{what}: {fault.path()} {fault.reason}") from None
    except TooLarge:
        raise PayloadError(too_large(what, f"more than {limit:,}", limit)) from None
    return write_text(flat, what=what, limit=limit)


def from_json(text: str | bytes) -> object:
    """The plain value of a JSON text."""
    try:
        if type(text) is str and text[:1] == "{":
            # As the table writes it: an object from the first character to the last. Whatever else it is comes below.
            value, end = _scan(text)
            if end == len(text):
                return value
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise PayloadError(f"this is not JSON that can be read: {error}") from error


def write_text(flat: object, *, what: str, limit: int) -> str:
    """The text of a value that has been through a walk."""
    data = _encoder.encode(flat)
    if _MAYBE_EXPONENT.search(data):
        data = _encoder.encode(_with_points(flat))
    if len(data) > limit:
        raise PayloadError(too_large(what, f"{len(data):,}", limit))
    return data.decode()


def _with_points(flat: object) -> object:
    """The same, with every float of 17 digits or more written out with a decimal point.

    jsonb forgets an exponent: 1e23 comes back as a one and twenty-three zeros, which is another number than the float.
    With a point it comes back as the float that it was.
    """
    if type(flat) is float and abs(flat) >= _FIRST_WITH_EXPONENT:
        return msgspec.Raw(f"{int(flat)}.0".encode())
    if type(flat) is dict:
        return {key: _with_points(item) for key, item in flat.items()}
    return [_with_points(item) for item in flat] if type(flat) is list else flat


def too_large(what: str, size: str, limit: int) -> str:
    """The message for a value over the limit."""
    return (
        f"{what}: the value takes {size} bytes as JSON, and the limit is {limit:,}; "
        "store it elsewhere and pass a reference to it"
    )


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


# Made once: json.loads would make one for every text. The attribute is set by C code, where type stubs do not see it.
_scan_once: Any = json.JSONDecoder(parse_constant=_refuse_constant).scan_once  # type: ignore[attr-defined]  # see above


def _scan(text: str) -> tuple[object, int]:
    try:
        scanned: tuple[object, int] = _scan_once(text, 0)
        return scanned
    except StopIteration:
        # How it says that a value is missing.
        return None, -1
