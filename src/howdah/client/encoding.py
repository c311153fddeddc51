"""The arguments of many jobs, made into JSON as they are sent: while the server takes in one part, the next is made.

Only where a failure in the middle takes back everything: in a transaction of our own, never in the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, overload

from howdah.model.errors import ArgumentError, PayloadError, UserError

#: Made before anything is sent: most mistakes are in all items, and cost nobody a connection then.
_FIRST = 1000


class Encoding(Sequence[str]):
    """The JSON texts of these items, each made when it is first asked for."""

    def __init__(self, items: Sequence[object], encode: Callable[[Mapping[str, Any]], str]) -> None:
        self._items = items
        self._encode = encode
        self._made: list[str] = []
        self._make(min(_FIRST, len(items)))

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        """One, or a part; all before it are made too."""
        if isinstance(index, slice):
            self._make(index.indices(len(self))[1])
        else:
            self._make(range(len(self))[index] + 1)
        return self._made[index]

    def all(self) -> list[str]:
        """All of them, now."""
        self._make(len(self))
        return self._made

    def _make(self, until: int) -> None:
        for number in range(len(self._made), until):
            item = self._items[number]
            if not isinstance(item, Mapping):
                found = type(item).__name__
                raise ArgumentError(f"item {number} (counted from 0) is of type {found}; each must be a mapping")
            try:
                self._made.append(self._encode(item))
            except (ArgumentError, PayloadError) as error:
                kind: type[UserError] = ArgumentError if isinstance(error, ArgumentError) else PayloadError
                raise kind(f"item {number}: {error}") from error


def as_items(items: object) -> Sequence[object]:
    """The items, held so that they can be gone through twice."""
    if not isinstance(items, Iterable):
        raise ArgumentError(f"enqueue_many takes an iterable of mappings, not {type(items).__name__}")
    return items if isinstance(items, list | tuple) else list(items)
