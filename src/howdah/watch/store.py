"""What the watch asks of the database, one operation per SQL file. Which file serves depends on the role's rights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from howdah.db import arrays
from howdah.db.op import Operation, Statement
from howdah.model.job import JobEvent
from howdah.model.status import Status
from howdah.model.update import Update

#: The mark of a job that is not there.
NO_SUCH_JOB = -1
#: The columns of look_at.sql and ask_about.sql from the fourth on are these fields of an update, in that order.
_COLUMNS = tuple(Update.__dataclass_fields__)[1:17]
#: Of one job's events, what one look takes; the rest follows in the next.
EVENTS_PAGE = 200


@dataclass(frozen=True, slots=True)
class Rights:
    """What this role may read: the lines of jobs, their events, and what events carry. Who may not read a table asks
    through the functions that are open to producers, by id."""

    lines: bool
    events: bool
    event_data: bool


@dataclass(frozen=True, slots=True)
class Look:
    """One job at one look: `mark` tells whether it has changed since; without an update there is no such job."""

    job_id: UUID
    mark: int
    at: datetime
    update: Update | None


def read_rights() -> Operation[Rights]:
    """What may this role read?"""
    rows = yield Statement("watch/read_rights")
    return Rights(*rows[0])


def listen() -> Operation[None]:
    """Hear the workers' bell from now on."""
    yield Statement("watch/listen")


def announce() -> Operation[bool]:
    """Have the workers ring it; False: try again."""
    rows = yield Statement("watch/announce")
    return bool(rows[0][0])


def look_at(marks: Mapping[UUID, int | None], rights: Rights) -> Operation[list[Look]]:
    """Those of the jobs that differ from their mark; None: never seen."""
    parameters = {"ids": arrays.ids(marks), "marks": arrays.numbers(marks.values())}
    rows = yield Statement("watch/look_at" if rights.lines else "watch/ask_about", parameters)
    return [Look(row[0], row[2], row[1], None if row[3] is None else _read(row)) for row in rows]


def read_events(after: Mapping[UUID, int], rights: Rights) -> Operation[dict[UUID, list[JobEvent]]]:
    """The next events of each job after that number, in order, at most a page of each."""
    parameters = {"ids": arrays.ids(after), "after": arrays.numbers(after.values()), "page": EVENTS_PAGE}
    if rights.event_data:
        rows = yield Statement("watch/read_events", parameters)
    elif rights.events:
        rows = yield Statement("watch/read_event_names", parameters)
    else:
        rows = yield Statement("watch/ask_events", parameters)
    found: dict[UUID, list[JobEvent]] = {job_id: [] for job_id in after}
    for row in rows:
        found[row[0]].append(JobEvent(*row[1:]))
    return found


def discover(held: int, newest: int) -> Operation[tuple[list[UUID], list[UUID]]]:
    """Jobs that are held, and the newest there are."""
    rows = yield Statement("watch/discover", {"held": held, "newest": newest})
    return rows[0][0], rows[0][1]


def _read(row: tuple[object, ...]) -> Update:
    values = dict(zip(_COLUMNS, row[3:], strict=True))
    values["status"] = Status(str(values["status"]))
    return Update(job_id=row[0], **values)  # type: ignore[arg-type]  # the SQL file fixes the columns; a test compares them
