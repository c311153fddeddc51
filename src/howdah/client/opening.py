"""Sealed jobs and events as the caller sees them: opened where the key is at hand, else left as they are, so that a job
can be looked at by who may not read what it carries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, overload
from uuid import UUID

from howdah.model.errors import SealedError
from howdah.model.job import JobEvent, JobRecord
from howdah.payload.json_text import from_json
from howdah.sealing.envelope import Envelope, Place, in_text, in_value
from howdah.sealing.keyring import Keyring, key_missing


def open_record(record: JobRecord, keyring: Keyring) -> JobRecord:
    """The record with all that can be opened."""
    changes: dict[str, Any] = {}
    for field, envelope in sealed_fields(record):
        try:
            text = keyring.open(envelope, Place(record.id, field, record.job_type))
        except SealedError:
            continue
        changes[field] = text if field == "last_error" else from_json(text)
    return replace(record, **changes) if changes else record


def open_event(event: JobEvent, job_id: UUID, keyring: Keyring) -> JobEvent:
    """The event with its data, if that can be opened."""
    envelope = in_value(event.data)
    if envelope is None:
        return event
    try:
        return replace(event, data=from_json(keyring.open(envelope, Place(job_id, "event", event.name))))
    except SealedError:
        return event


def sealed_fields(record: JobRecord) -> Iterator[tuple[str, Envelope]]:
    """The fields of a record that are sealed."""
    found = {"data": in_value(record.data), "result": in_value(record.result)}
    found["last_error"] = None if record.last_error is None else in_text(record.last_error)
    for field, envelope in found.items():
        if envelope is not None:
            yield field, envelope


def why_sealed(record: JobRecord, field: str, keyring: Keyring | None) -> SealedError | None:
    """Why this field could not be opened; None: it is open."""
    envelope = dict(sealed_fields(record)).get(field)
    if envelope is None:
        return None
    if keyring is None:
        return key_missing(envelope)
    try:
        keyring.open(envelope, Place(record.id, field, record.job_type))
    except SealedError as error:
        return error
    return None


class SealedTexts(Sequence[str]):
    """The arguments of many jobs, each sealed when it is asked for: while the server takes in one part, the next is
    made."""

    def __init__(self, ids: Sequence[UUID], job_type: str, data: Sequence[str], keyring: Keyring) -> None:
        self._ids = ids
        self._job_type = job_type
        self._data = data
        self._keyring = keyring

    def __len__(self) -> int:
        return len(self._data)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        """One, or a part."""
        if isinstance(index, slice):
            pairs = zip(self._ids[index], self._data[index], strict=True)
            return [seal_data(job_id, self._job_type, text, self._keyring) for job_id, text in pairs]
        return seal_data(self._ids[index], self._job_type, self._data[index], self._keyring)


def seal_data(job_id: UUID, job_type: str, text: str, keyring: Keyring) -> str:
    """A job's arguments as they are stored."""
    envelope = keyring.seal(text, Place(job_id, "data", job_type))
    return text if envelope is None else envelope.as_json()
