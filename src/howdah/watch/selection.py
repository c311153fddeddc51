"""Which jobs a watcher wants to hear of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from howdah.model.errors import OptionError, shown
from howdah.model.job_id import as_job_id
from howdah.model.options import check_name
from howdah.model.status import Status
from howdah.model.update import Update


@dataclass(frozen=True, slots=True)
class Selection:
    """Jobs by id, or all of some types and queues; empty: whichever. `statuses`: only while they stand so."""

    ids: tuple[UUID, ...] = ()
    job_types: frozenset[str] = frozenset()
    queues: frozenset[str] = frozenset()
    statuses: frozenset[Status] = frozenset()

    def matches(self, update: Update) -> bool:
        """Whether the job is one of those, however it stands."""
        return (not self.job_types or update.job_type in self.job_types) and (
            not self.queues or update.queue in self.queues
        )

    def tells(self, update: Update) -> bool:
        """Whether its status is one that the watcher wants to hear of."""
        return not self.statuses or update.status in self.statuses


def select(ids: Iterable[object], job_types: object, queues: object, statuses: object) -> Selection:
    """What the caller asked for, checked: each may be one or several."""
    return Selection(
        tuple(dict.fromkeys(as_job_id(one) for one in ids)),
        frozenset(check_name("job type", name) for name in _several("job_types", job_types)),
        frozenset(check_name("queue", name) for name in _several("queues", queues)),
        frozenset(_status(one) for one in _several("statuses", statuses)),
    )


def _several(what: str, value: object) -> list[object]:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Iterable):
        raise OptionError(f"{what} takes a string or several of them, not {shown(value)}")
    return list(value)


def _status(value: object) -> Status:
    try:
        return Status(str(value))
    except ValueError:
        known = ", ".join(Status)
        raise OptionError(f"{shown(value)} is no status; there are: {known}") from None
