"""How long to wait before the next attempt."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from howdah.model.errors import OptionError, shown


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential backoff with full jitter: anything from nothing to base · factor^errors, at most `longest`.

    Full jitter spreads the retries of jobs that failed together; without it they would all come back together.
    """

    base: timedelta = timedelta(seconds=2)
    factor: float = 2.0
    longest: timedelta = timedelta(hours=1)
    jitter: bool = True

    def __post_init__(self) -> None:
        for what in ("base", "longest"):
            value = getattr(self, what)
            if not isinstance(value, timedelta) or value < timedelta(0):
                raise OptionError(f"Backoff({what}=…) takes a timedelta, not {shown(value)}")
        if not self.factor >= 1:
            raise OptionError(f"Backoff(factor={self.factor}) would not back off; 1 or more is allowed")

    def __call__(self, errors: int, error: BaseException) -> timedelta:
        """The delay after that many earlier errors."""
        # The exponent is bounded so that the power cannot overflow; any sane factor is past `longest` by then.
        ceiling = min(self.longest.total_seconds(), self.base.total_seconds() * self.factor ** min(errors, 64))
        return timedelta(seconds=random.uniform(0, ceiling) if self.jitter else ceiling)  # noqa: S311 - not secret


#: (errors before this one, the error) → the delay, or None to give up now.
RetryPolicy: TypeAlias = Callable[[int, BaseException], timedelta | None]
