"""How a job is to be enqueued, checked before anything is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from howdah.model.context import is_storable
from howdah.model.errors import OptionError, shown
from howdah.model.priority import HIGHEST_PRIORITY, LOWEST_PRIORITY, Priority

NAME_LIMIT = 50
LONGEST_DELAY = timedelta(days=36525)
#: A run_at this little in the past is a clock that differs, not a mistake.
CLOCK_TOLERANCE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class JobOptions:
    """Priority (higher runs first), queue, when, and how often at most."""

    priority: int = Priority.DISCOVERED
    queue: str = "default"
    max_attempts: int = 3
    delay: timedelta | None = None
    run_at: datetime | None = None

    def __post_init__(self) -> None:
        _check_int("priority", self.priority, LOWEST_PRIORITY, HIGHEST_PRIORITY)
        _check_int("max_attempts", self.max_attempts, 1, HIGHEST_PRIORITY)
        check_name("queue", self.queue)
        _check_delay(self.delay)
        _check_run_at(self.run_at)
        if self.delay is not None and self.run_at is not None:
            raise OptionError("give delay or run_at, not both")

    def changed(self, **changes: Any) -> JobOptions:
        """These options with some of them replaced; a new time replaces the other kind of time."""
        if changes.get("delay") is not None and "run_at" not in changes:
            changes["run_at"] = None
        if changes.get("run_at") is not None and "delay" not in changes:
            changes["delay"] = None
        return replace(self, **changes)


def check_name(what: str, name: object, limit: int = NAME_LIMIT) -> str:
    """A queue's or job type's name: 1 to 50 characters that PostgreSQL can store."""
    if not isinstance(name, str):
        raise OptionError(f"{what} must be a string, not {type(name).__name__}")
    if not 1 <= len(name) <= limit:
        raise OptionError(f"{what} {name[:60]!r} has {len(name)} characters; 1 to {limit} are allowed")
    if not is_storable(name):
        raise OptionError(f"{what} {name!r} has a NUL character or a lone surrogate, which PostgreSQL cannot store")
    return name


def _check_int(what: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise OptionError(f"{what} must be a whole number, not {type(value).__name__}")
    if not low <= value <= high:
        raise OptionError(f"{what} {shown(value)} is out of range; {low} to {high} are allowed")


def _check_delay(delay: object) -> None:
    if delay is None:
        return
    if not isinstance(delay, timedelta):
        raise OptionError(f"delay must be a timedelta, not {type(delay).__name__}")
    if delay < timedelta(0):
        raise OptionError(f"delay {delay} is in the past; 0 to {LONGEST_DELAY.days} days are allowed")
    if delay > LONGEST_DELAY:
        raise OptionError(f"delay {delay} is too long; 0 to {LONGEST_DELAY.days} days are allowed")


def _check_run_at(run_at: object) -> None:
    if run_at is None:
        return
    if not isinstance(run_at, datetime):
        raise OptionError(f"run_at must be a datetime, not {type(run_at).__name__}")
    if run_at.tzinfo is None:
        raise OptionError(f"run_at {run_at} has no timezone; use datetime.now(UTC) + …, or delay=")
    now = datetime.now(UTC)
    if run_at < now - CLOCK_TOLERANCE:
        raise OptionError(f"run_at {run_at} is in the past; leave it out to run at once")
    if run_at - now > LONGEST_DELAY:
        raise OptionError(f"run_at {run_at} is more than {LONGEST_DELAY.days} days away")
