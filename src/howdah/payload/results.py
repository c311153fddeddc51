"""Results come back as the type that the handler says it returns, where JSON can be turned into that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from howdah.payload.annotations import Unresolved, resolve
from howdah.payload.coder import Undecodable, coder_for
from howdah.payload.fault import Fault


def result_loader(function: Callable[..., Any]) -> Callable[[Any], Any] | None:
    """Turns a stored result into the annotated return type; None where there is nothing to turn."""
    annotation = resolve(function).get("return", Any)
    if annotation in (Any, None, type(None)) or isinstance(annotation, Unresolved):
        return None
    try:
        coder = coder_for(annotation)
    except Undecodable:
        return None

    def load(stored: Any) -> Any:
        try:
            return coder.load(stored)
        except Fault:
            # The handler returned something else than it says, or says something else by now: plain JSON is still true.
            return stored

    return load
