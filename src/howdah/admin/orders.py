"""What operators order, as values: kinds of changes, operations and the audit. Field order is that of the SQL file
named."""

from __future__ import annotations

import getpass
import socket
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from howdah.model.errors import OptionError
from howdah.model.options import JobOptions, check_name

WHO_LIMIT = 200


class Kind(StrEnum):
    """What can be done to jobs."""

    RETRY = "retry"
    """Ended jobs run again, waiting ones now."""
    CANCEL = "cancel"
    """Waiting jobs never run; the workers of running ones are told to stop."""
    DELETE = "delete"
    """Ended jobs are gone, with their events."""
    RUN_NOW = "run_now"
    """Jobs that wait for their time, or for their next try, are due now."""
    PRIORITY = "priority"
    """Jobs that have not ended get another priority."""
    QUEUE = "queue"
    """Jobs that have not ended get another queue."""


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be done; a priority or queue comes with its new value. Checked when it is made."""

    kind: Kind
    value: int | str | None = None

    def __post_init__(self) -> None:
        match self.kind:
            case Kind.PRIORITY:
                JobOptions(priority=self.value)  # type: ignore[arg-type]  # it says what is wrong with any value
            case Kind.QUEUE:
                check_name("queue", self.value)
            case _ if self.value is not None:
                raise OptionError(f"{self.kind} takes no value, but was given {self.value!r}")

    @property
    def argument(self) -> str | None:
        """The value as the database takes it."""
        return None if self.value is None else str(int(self.value) if self.kind is Kind.PRIORITY else self.value)

    @classmethod
    def read(cls, kind: str, argument: str | None) -> Change:
        """The change as it stands in the table of operations."""
        found = Kind(kind)
        return cls(found, int(argument) if found is Kind.PRIORITY and argument is not None else argument)


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one job: its status now, 'requested' (its worker is told to stop) or 'deleted'; and whether this
    order did that. admin/administer_jobs.sql"""

    job_id: UUID
    answer: str
    changed: bool


class State(StrEnum):
    """How an operation stands."""

    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class BulkOperation:
    """A change to many jobs, and how far it has come. admin/get_operation.sql"""

    id: UUID
    kind: Kind
    filter: str
    """The filter's text; of a selection, how many were selected."""
    job_ids: list[UUID] | None
    argument: str | None
    who: str
    state: State
    estimate: int | None
    done: int
    skipped: int
    """In no fit state when their turn came, or locked by somebody for long."""
    cursor: UUID | None
    started_at: datetime
    stepped_at: datetime
    ended_at: datetime | None
    error: str | None

    @property
    def percent(self) -> int | None:
        """How much is done, of what was estimated; None: nobody knows."""
        if self.state is State.DONE:
            return 100
        if not self.estimate:
            return None
        return min(99, 100 * (self.done + self.skipped) // self.estimate)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Who ordered what. admin/list_audit.sql"""

    id: int
    at: datetime
    who: str
    login: str
    what: str
    target: str
    jobs: int | None
    details: dict[str, Any]


def check_who(who: str) -> str:
    """Whoever gives orders has a name."""
    return check_name("the name of who gives the order", who, WHO_LIMIT)


def local_who() -> str:
    """Who sits at this terminal: user@host."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):
        user = "?"
    return f"{user}@{socket.gethostname()}"[:WHO_LIMIT]
