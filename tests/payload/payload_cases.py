"""What the payload tests share: a context type, and a handler of one parameter of any type."""

from __future__ import annotations

import inspect
import json
from typing import Any

from hypothesis import settings

from howdah.payload.signature import HandlerSignature, read_signature

# The same examples on every run: a property that fails once can be run again.
repeatable = settings(derandomize=True, deadline=None, max_examples=200)


class Context:
    """Stands for the worker's context; the payload room knows it by identity only."""


def taking(annotation: Any) -> HandlerSignature:
    """The signature of a handler whose one parameter, `it`, has this annotation."""

    def handler(it: Any) -> None: ...

    handler.__annotations__ = {"it": annotation}
    return read_signature(handler, Context)


def name_of_case(case: tuple[Any, object]) -> str:
    """A name without addresses or sets in it, so that processes which share the tests agree on it."""
    annotation, value = case
    return f"{inspect.formatannotation(annotation)} given {type(value).__name__}"


def there_and_back(annotation: Any, value: object) -> object:
    """The value as the handler gets it."""
    signature = taking(annotation)
    args, kwargs = signature.decode(json.loads(signature.encode((value,), {})))
    assert args == ()
    return kwargs["it"]
