"""How a worker works."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from howdah.model.errors import OptionError, shown
from howdah.model.options import check_name


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """How much a worker runs at once, what it serves, and how long it waits for what."""

    concurrency: int = 20
    """Jobs at once over all queues that have no number of their own."""
    queues: Mapping[str, int | None] = field(default_factory=dict)
    """Queues to serve and, where a number stands, that queue's own concurrency. Empty: all that the app registers."""
    job_types: Sequence[str] = ()
    """Job types to serve. Empty: all that the app registers."""
    silence: timedelta = timedelta(seconds=30)
    """Without a heartbeat for this long, the worker counts as dead and its jobs are rescued."""
    grace: timedelta = timedelta(seconds=30)
    """After SIGTERM, how long running jobs may take to finish before they are released."""
    poll: timedelta = timedelta(milliseconds=900)
    """How often to look for work when nothing rings; a quarter as often while NOTIFY is known to come through."""
    listen: bool = True
    """Whether to be woken by NOTIFY; polling is the truth either way."""
    name: str | None = None
    """A name for people. The worker's id is this name and a random part: a restarted worker is never taken for its dead
    predecessor, whose jobs must be rescued."""
    maintenance: bool = True
    """Whether this worker also does the chores: rescue, partitions, retention."""
    in_child: Callable[[], object] | None = None
    """Called first in each child process of `process=True` handlers: a function at the top of a module, which sets up
    logging or the like there."""

    def __post_init__(self) -> None:
        _at_least_one("concurrency", self.concurrency)
        for name, own in self.queues.items():
            check_name("queue", name)
            if own is not None:
                _at_least_one(f"the concurrency of queue {name!r}", own)
        for what in ("silence", "poll", "grace"):
            value = getattr(self, what)
            if not isinstance(value, timedelta):
                raise OptionError(f"{what} must be a timedelta, not {shown(value)}")
            if value <= timedelta(0) and what != "grace":
                raise OptionError(f"{what} must be longer than nothing")
        if self.grace < timedelta(0):
            raise OptionError("grace cannot be negative")
        if self.in_child is not None:
            _picklable("in_child", self.in_child)
        if self.name is not None:
            check_name("the worker's name", self.name, limit=80)


def _picklable(what: str, value: object) -> None:
    try:
        pickle.dumps(value)
    except Exception as error:
        raise OptionError(f"{what} must be a function at the top of a module, not {shown(value)}") from error


def _at_least_one(what: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 100_000:
        raise OptionError(f"{what} is {shown(value)}; 1 to 100000 are allowed")
