"""Seals anew, with the key that seals now, what stands in the tables: page by page, each in a transaction of its own.

A job that a worker holds is left alone: the worker has opened it already, and would lose nothing, but its end could be
written at the same moment. It is counted, and the next run finds it. So a run that was interrupted is simply repeated.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from uuid import UUID

from howdah.admin import store
from howdah.admin.views import Carried, EventData
from howdah.db.op import Operation
from howdah.model.errors import SealedError
from howdah.sealing.envelope import Envelope, Place, in_json, in_text, note_for_people
from howdah.sealing.keyring import Keyring

#: Small: rows stay locked for as long as a page takes, and a claim that meets one has to ask again.
PAGE = 500


@dataclass(slots=True)
class Rekeyed:
    """What came of it."""

    jobs: int = 0
    events: int = 0
    #: Jobs that a worker holds, or somebody has locked.
    busy: int = 0
    #: Key → jobs and events that could not be opened.
    unopened: Counter[str] = field(default_factory=Counter)

    @property
    def complete(self) -> bool:
        """Whether nothing is left that is sealed otherwise."""
        return not self.busy and not self.unopened


def rekey_jobs(keyring: Keyring, after: UUID | None, done: Rekeyed) -> Operation[UUID | None]:
    """A page of jobs; where to go on, or None at the end. Call it inside a transaction."""
    page = yield from store.look_for_stale_jobs(keyring.seals_with, after, PAGE)
    stale = [job_id for job_id, is_stale in page if is_stale]
    if stale:
        resting = yield from store.lock_jobs_at_rest(stale)
        fresh: list[Carried] = []
        for job in resting:
            try:
                fresh.append(_job(keyring, job))
            except _Unopened as error:
                done.unopened[error.key] += 1
        yield from store.replace_carried(fresh)
        done.busy += len(stale) - len(resting)
        done.jobs += len(fresh)
    return page[-1][0] if len(page) == PAGE else None


def rekey_events(keyring: Keyring, after: tuple[UUID, int] | None, done: Rekeyed) -> Operation[tuple[UUID, int] | None]:
    """A page of events; where to go on, or None at the end. Call it inside a transaction."""
    page = yield from store.lock_stale_events(keyring.seals_with, after, PAGE)
    fresh: list[EventData] = []
    for event in page:
        if event.data is not None:
            try:
                fresh.append(replace(event, data=_event(keyring, event, event.data)))
            except _Unopened as error:
                done.unopened[error.key] += 1
    if fresh:
        yield from store.replace_event_data(fresh)
    done.events += sum(event.seq > 0 for event in fresh)
    return (page[-1].job_id, page[-1].seq) if len(page) == PAGE else None


class _Unopened(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _job(keyring: Keyring, job: Carried) -> Carried:
    def place(field: str) -> Place:
        return Place(job.id, field, job.job_type)

    result = None if job.result is None else _json(keyring, job.result, place("result"))
    error = None if job.last_error is None else _error(keyring, job.last_error, place("last_error"))
    return replace(job, data=_json(keyring, job.data, place("data")), result=result, last_error=error)


def _event(keyring: Keyring, event: EventData, data: str) -> str:
    if event.seq > 0:
        return _json(keyring, data, Place(event.job_id, "event", event.name))
    # The record of an attempt: only its error was ever sealed, as the job's own.
    record = json.loads(data)
    place = Place(event.job_id, "last_error", str(record.get("job_type")))
    return json.dumps({**record, "error": _error(keyring, str(record.get("error")), place)})


def _error(keyring: Keyring, error: str, place: Place) -> str:
    envelope = in_text(error)
    if envelope is None:
        return error
    text = _open(keyring, envelope, place)
    sealed = keyring.seal(text, place)
    kind = error.partition("\n")[2].partition(":")[0]
    return text if sealed is None else sealed.as_text(note_for_people(kind, sealed.key))


def _json(keyring: Keyring, text: str, place: Place) -> str:
    envelope = in_json(text)
    opened = text if envelope is None else _open(keyring, envelope, place)
    sealed = keyring.seal(opened, place)
    return opened if sealed is None else sealed.as_json()


def _open(keyring: Keyring, envelope: Envelope, place: Place) -> str:
    try:
        return keyring.open(envelope, place)
    except SealedError:
        raise _Unopened(envelope.key) from None
