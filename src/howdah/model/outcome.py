"""What a handler can raise to say how its job ends, other than by returning or failing.

raise Retry(after=timedelta(seconds=30))   try again, and count an error
raise Snooze(timedelta(minutes=5))         not yet: try again later, and count nothing
raise Cancel("superseded")                 end as cancelled
raise Fail("no such video")                end as failed now, whatever attempts are left
"""

from __future__ import annotations

from datetime import timedelta

from howdah.model.errors import OptionError
from howdah.model.options import LONGEST_DELAY


class Outcome(Exception):
    """How a handler wants its job to end."""


class Retry(Outcome):
    """Try again after a time of the handler's choosing (None: the job's own policy); counts as an error."""

    def __init__(self, reason: str = "the handler asked for a retry", *, after: timedelta | None = None) -> None:
        super().__init__(reason)
        self.after = None if after is None else checked_delay("Retry(after=…)", after)


class Snooze(Outcome):
    """Not yet: run again later. Costs neither an attempt nor an error."""

    def __init__(self, delay: timedelta) -> None:
        self.delay = checked_delay("Snooze(…)", delay)
        super().__init__(f"snoozed for {delay}")


class Cancel(Outcome):
    """End as cancelled."""

    def __init__(self, reason: str = "cancelled by its handler") -> None:
        super().__init__(reason)


class Fail(Outcome):
    """End as failed now, whatever attempts are left."""

    def __init__(self, reason: str = "failed by its handler") -> None:
        super().__init__(reason)


def checked_delay(what: str, delay: object) -> timedelta:
    """A delay within reason, or an error that names the limit."""
    if not isinstance(delay, timedelta):
        raise OptionError(f"{what} takes a timedelta, not {type(delay).__name__}")
    if not timedelta(0) <= delay <= LONGEST_DELAY:
        raise OptionError(f"{what} {delay} is out of range; 0 to {LONGEST_DELAY.days} days are allowed")
    return delay
