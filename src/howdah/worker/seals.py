"""Opens what jobs carry before they run, and seals what they leave behind.

A job whose key this worker lacks is nobody's fault and no failed attempt: it is put off, a minute at a time, until a
worker comes that has the key. One whose seal is broken fails: it will never open.
"""

from __future__ import annotations

import logging
import random
from dataclasses import replace
from uuid import UUID

from howdah.model.errors import KeyMissing, SealBroken
from howdah.sealing.envelope import Envelope, Place, in_json, note_for_people
from howdah.sealing.keyring import Keyring, key_missing
from howdah.worker.held import Held
from howdah.worker.store import Completion, Ending

logger = logging.getLogger("howdah.worker")
_PUT_OFF_SECONDS = 60.0


class Seals:
    """The keys of one worker, or none."""

    def __init__(self, keyring: Keyring | None) -> None:
        self._keyring = keyring
        self._told: set[str] = set()
        #: Whether anything is sealed here; asked once for every job.
        self.sealing = keyring is not None and keyring.seals_with is not None

    def open(self, held: Held) -> Ending | None:
        """Open the arguments of a job that are, or seem, sealed; how its claim ends if they cannot be opened."""
        job = held.job
        envelope = in_json(job.data)
        if envelope is None:
            return None
        try:
            if self._keyring is None:
                raise key_missing(envelope)
            text = self._keyring.open(envelope, Place(held.job_id, "data", job.job_type))
        except KeyMissing as error:
            held.error_kind = type(error).__name__
            self._tell(envelope)
            # Spread, so that what was put off together does not come back together.
            seconds = _PUT_OFF_SECONDS * random.uniform(0.8, 1.2)  # noqa: S311 - spreads returns
            return Ending(job.id, job.lease, "snooze", str(error), seconds)
        except SealBroken as error:
            held.error_kind = type(error).__name__
            return Ending(job.id, job.lease, "fail", str(error))
        held.job = job._replace(data=text)
        return None

    def seal(self, held: Held, end: Completion | Ending | None) -> Completion | Ending | None:
        """The end of a claim as it is stored: its result, or the error that its handler made, sealed."""
        if self._keyring is None or end is None:
            return end
        job_type = held.job.job_type
        if isinstance(end, Completion):
            if end.result is None:
                return end
            envelope = self._keyring.seal(end.result, Place(held.job_id, "result", job_type))
            return end if envelope is None else end._replace(result=envelope.as_json())
        if end.error is None or not end.by_handler:
            return end
        envelope = self._keyring.seal(end.error, Place(held.job_id, "last_error", job_type))
        if envelope is None:
            return end
        return replace(end, error=envelope.as_text(note_for_people(held.error_kind, envelope.key)))

    def seal_event(self, job_id: UUID, name: str, text: str | None) -> str | None:
        """What an event carries, as it is stored."""
        if self._keyring is None or text is None:
            return text
        envelope = self._keyring.seal(text, Place(job_id, "event", name))
        return text if envelope is None else envelope.as_json()

    def _tell(self, envelope: Envelope) -> None:
        if envelope.key in self._told:
            return
        self._told.add(envelope.key)
        logger.error(
            "jobs are sealed with a key that this worker does not have; they wait: add it to HOWDAH_KEYS and restart",
            extra={"key": envelope.key, "check": envelope.check},
        )
