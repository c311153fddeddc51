"""Which jobs: the filter that the command line, the dashboard and bulk operations share. Its text: filter_text.py."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from howdah.model.status import Status

#: A time, or how long ago.
Moment = datetime | timedelta


@dataclass(frozen=True, slots=True)
class DataCondition:
    """What the arguments must hold: at `path` the JSON value `value`, or anything at all if that is None. A list on the
    way, or at the end, fits if one of its elements does."""

    path: tuple[str, ...]
    value: str | None = None
    """JSON text of a number, text, true, false or null."""


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs; None and empty mean any, and all that is given must fit. Since is inclusive, until is not."""

    statuses: tuple[Status, ...] = ()
    job_type: str | None = None
    queue: str | None = None
    worker_id: str | None = None
    priority_from: int | None = None
    priority_to: int | None = None
    created_since: Moment | None = None
    created_until: Moment | None = None
    started_since: Moment | None = None
    started_until: Moment | None = None
    completed_since: Moment | None = None
    completed_until: Moment | None = None
    error: str | None = None
    """A part of the error, in any case."""
    data: tuple[DataCondition, ...] = ()
    ids: tuple[UUID, ...] = ()

    @property
    def selects(self) -> bool:
        """Whether it leaves anything out."""
        return self != JobFilter()

    @property
    def is_deep(self) -> bool:
        """Whether it asks for what only a payload reader may read: arguments, or errors, which may quote them."""
        return self.error is not None or bool(self.data)

    def resolved(self, now: datetime) -> JobFilter:
        """The same with times instead of how long ago, counted from `now`."""
        ages = {name: age for name in _MOMENTS if isinstance(age := getattr(self, name), timedelta)}
        times: dict[str, Any] = {name: _before(now, age) for name, age in ages.items()}
        return replace(self, **times) if times else self

    def parameters(self, now: datetime) -> dict[str, object]:
        """Its conditions as the .sql files name them, all but those of is_deep and the ids."""
        resolved = self.resolved(now)
        return {
            "statuses": [str(status) for status in self.statuses] or None,
            **{name: getattr(resolved, name) for name in _PLAIN},
        }

    def deep_parameters(self) -> dict[str, object]:
        """The conditions of is_deep."""
        return {"error": self.error, "data": " && ".join(map(_json_path, self.data)) or None}


_MOMENTS = tuple(f"{event}_{side}" for event in ("created", "started", "completed") for side in ("since", "until"))
_PLAIN = ("job_type", "queue", "worker_id", "priority_from", "priority_to", *_MOMENTS)
_BEGINNING = datetime(1, 1, 2, tzinfo=UTC)


def _before(now: datetime, age: timedelta) -> datetime:
    return now - age if age < now - _BEGINNING else _BEGINNING


def _json_path(condition: DataCondition) -> str:
    """As SQL/JSON path, in lax mode, which looks into lists by itself; JSON's way of writing texts is also its own."""
    place = "$" + "".join(f".{json.dumps(name)}" for name in condition.path)
    return f"exists({place})" if condition.value is None else f"{place} == {condition.value}"
