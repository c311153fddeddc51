"""Updates in words: how a job stands, and what it said, each in a line."""

from __future__ import annotations

from uuid import UUID

from howdah.cli.output import json_text, printable
from howdah.model.durations import format_duration
from howdah.model.job import JobEvent
from howdah.model.status import Status
from howdah.model.update import Update

_MOST_TOLD = 10_000


class Told:
    """What was last said of each job; of very many, only of the last."""

    def __init__(self) -> None:
        self._words: dict[UUID, str] = {}

    def is_new(self, update: Update) -> bool:
        """Whether the line about the job is another than the last; it is the last now."""
        words = state_words(update)
        if self._words.get(update.job_id) == words:
            return False
        self._words[update.job_id] = words
        if len(self._words) > _MOST_TOLD:
            del self._words[next(iter(self._words))]
        return True


def state_words(update: Update) -> str:
    """How a job stands, in a line."""
    words = [str(update.status)]
    if update.gone:
        return "deleted"
    if update.status in (Status.CLAIMED, Status.RUNNING) or update.progress:
        words.append(f"{update.progress}%")
    if update.stage and not update.finished:
        words.append(printable(update.stage))
    if update.eta is not None:
        words.append(f"eta {format_duration(update.eta)}")
    if update.attempt > 1:
        words.append(f"attempt {update.attempt} of {update.max_attempts}")
    if update.finished and update.elapsed is not None:
        words.append(f"in {format_duration(update.elapsed)}")
    if update.cancel_requested and not update.finished:
        words.append("to be cancelled")
    error = last_line(update.error)
    if error and update.status is not Status.COMPLETED:
        words.append(printable(error))
    return "  ".join(words)


def event_words(event: JobEvent) -> str:
    """An event in a line."""
    data = "" if event.data is None else f"  {json_text(event.data)}"
    return printable(f"event {event.seq}  {event.name}{data}")


def last_line(text: str | None) -> str | None:
    """What an error says in the end."""
    lines = (text or "").strip().splitlines()
    return lines[-1] if lines else None
