"""Who looks, and what they may do. Checked on the server for every request; a hidden button is only politeness."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from starlette.requests import Request


class Role(StrEnum):
    """A viewer looks; an operator also changes."""

    VIEWER = "viewer"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class User:
    """Someone who was let in. `payloads`: may read arguments, results, events' data and errors, which may hold
    secrets."""

    name: str
    role: Role | str = Role.VIEWER
    payloads: bool = False

    def __post_init__(self) -> None:
        # A word that is no role must not become a right by accident.
        object.__setattr__(self, "role", Role(self.role))

    @property
    def may_change(self) -> bool:
        """Whether this user may change anything."""
        return self.role is Role.OPERATOR


#: The host application's own auth: the user behind a request, or None to refuse it. Plain or async.
Authenticate: TypeAlias = Callable[[Request], User | Awaitable[User | None] | None]
