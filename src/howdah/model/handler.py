"""What the worker must know of a registered job type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, Protocol

from howdah.model.context import JobContext
from howdah.model.retry import RetryPolicy


class Mode(StrEnum):
    """Where a handler runs."""

    LOOP = "loop"
    """`async def`: on the worker's event loop."""
    THREAD = "thread"
    """`def`: in a thread."""
    PROCESS = "process"
    """`process=True`: in a child process that can be killed."""


#: Called with what a handler raised and the context of its job.
ErrorHook = Callable[[BaseException, JobContext], object]


class Signature(Protocol):
    """How a handler's arguments are stored and restored."""

    @property
    def takes_context(self) -> bool: ...

    def decode(self, data: object) -> tuple[tuple[object, ...], dict[str, object]]: ...

    def encode(self, args: tuple[object, ...], kwargs: Mapping[str, object], *, limit: int) -> str: ...


@dataclass(frozen=True, slots=True)
class Handler:
    """A function and how to run it."""

    name: str
    function: Callable[..., Any]
    signature: Signature
    mode: Mode
    timeout: timedelta | None
    retry: RetryPolicy
    queue: str
