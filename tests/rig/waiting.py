"""Waiting on events, with a deadline that only a broken program meets."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")
#: The museum, where what is awaited may never come, sets a shorter one.
DEADLINE = float(os.environ.get("HOWDAH_TEST_DEADLINE", "60"))


def until(condition: Callable[[], T], what: str, seconds: float = DEADLINE) -> T:
    """Ask again and again until the answer is true; fail, saying what was awaited."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s in vain until {what}; last answer: {answer!r}")
        time.sleep(0.01)
    return answer


async def until_async(condition: Callable[[], Awaitable[bool] | bool], what: str, seconds: float = DEADLINE) -> None:
    """The same on an event loop."""
    deadline = time.monotonic() + seconds
    while True:
        answer = condition()
        value = await answer if isinstance(answer, Awaitable) else answer
        if value:
            return
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s in vain until {what}; last answer: {value!r}")
        await asyncio.sleep(0.01)
