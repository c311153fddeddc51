"""What is sealed in the tables, opened where the app has the key; else the name of the key that is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from howdah.admin.attempt_store import Attempt
from howdah.client.opening import open_event, open_record
from howdah.model.errors import SealedError
from howdah.model.job import JobEvent, JobRecord
from howdah.sealing.envelope import Place, in_text, in_value
from howdah.sealing.keyring import Keyring


def open_job(record: JobRecord, keyring: Keyring | None) -> JobRecord:
    """The job as far as it opens."""
    opened = record if keyring is None else open_record(record, keyring)
    return replace(opened, data=_shown(opened.data), result=_shown(opened.result))


def open_events(events: Sequence[JobEvent], record: JobRecord, keyring: Keyring | None) -> list[JobEvent]:
    """Events as far as they open."""
    opened = [event if keyring is None else open_event(event, record.id, keyring) for event in events]
    return [replace(event, data=_shown(event.data)) for event in opened]


def open_attempts(attempts: Sequence[Attempt], record: JobRecord, keyring: Keyring | None) -> list[Attempt]:
    """Errors of attempts as far as they open; else their last line tells the kind of error and the key."""
    return [replace(attempt, error=_error(attempt.error, record, keyring)) for attempt in attempts]


def _error(text: str | None, record: JobRecord, keyring: Keyring | None) -> str | None:
    envelope = None if text is None else in_text(text)
    if text is None or envelope is None:
        return text
    try:
        if keyring is not None:
            return keyring.open(envelope, Place(record.id, "last_error", record.job_type))
    except SealedError:
        pass
    return text.partition("\n")[2]


def _shown(value: Any) -> Any:
    envelope = in_value(value)
    return value if envelope is None else f"sealed with key {envelope.key!r}, which this dashboard does not have"
