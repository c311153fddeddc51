"""Takes the values of named fields out of JSON before anybody sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

HIDDEN = "[redacted]"
#: Deeper than anybody reads; what lies below is not shown at all, so that nothing slips through unlooked at.
_DEEPEST = 200


class Redaction:
    """`password` is that field at any depth; `card.number` is a `number` directly in a `card`, at any depth. Lists are
    looked through. Case does not matter."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = tuple(tuple(part.casefold() for part in path.strip(". ").split(".")) for path in paths)

    def apply(self, value: Any) -> Any:
        """The value with those fields' values hidden; the value itself is left alone."""
        return self._cleaned(value, ()) if self.paths else value

    def names(self, path: Sequence[str]) -> bool:
        """Whether a filter on that path would ask about a hidden field, or about something inside one."""
        folded = tuple(part.casefold() for part in path)
        return any(self._ends_hidden(folded[:end]) for end in range(1, len(folded) + 1))

    def _ends_hidden(self, path: tuple[str, ...]) -> bool:
        return any(path[-len(hidden) :] == hidden for hidden in self.paths)

    def _cleaned(self, value: Any, path: tuple[str, ...]) -> Any:
        if len(path) > _DEEPEST:
            return HIDDEN
        if isinstance(value, dict):
            return {key: self._field(inner, (*path, str(key).casefold())) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._cleaned(inner, path) for inner in value]
        return value

    def _field(self, value: Any, path: tuple[str, ...]) -> Any:
        return HIDDEN if self._ends_hidden(path) else self._cleaned(value, path)
