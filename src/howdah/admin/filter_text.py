"""A filter as text, for `--where`, the dashboard's search box and saved links: reading it, and writing it in its one
canonical form, which reads back as the same filter."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from howdah.admin.filter_words import Word, is_plain_name, is_plain_value, quoted, read_words
from howdah.admin.filters import DataCondition, JobFilter, Moment
from howdah.model.durations import parse_duration, write_duration
from howdah.model.options import NAME_LIMIT
from howdah.model.priority import HIGHEST_PRIORITY, LOWEST_PRIORITY
from howdah.model.status import Status

DATA_LIMIT = 20
PATH_LIMIT = 20
IDS_LIMIT = 1000
FIELDS = ("status", "type", "queue", "worker", "priority", "created", "started", "completed", "error", "id", "data.…")
_TIMES = ("created", "started", "completed")
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,300})(\.\d{1,300})?([eE][+-]?\d{1,3})?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,20}", re.ASCII)


def parse_filter(text: str) -> JobFilter:
    """The filter, or a FilterError that knows the word that is wrong."""
    wanted = JobFilter()
    for word in read_words(text):
        read = _READERS.get(word.field)
        if read is None or (word.path and word.field != "data"):
            name = word.field if read is None else word.text
            raise word.error(f"there is no field {name!r}; there are {', '.join(FIELDS)}")
        changes = read(word, wanted)
        twice = [name for name in changes if name != "data" and getattr(wanted, name) not in (None, ())]
        if twice:
            raise word.error(f"{word.field} is said twice; all conditions must fit at once")
        wanted = replace(wanted, **changes)
    return wanted


def render_filter(wanted: JobFilter) -> str:
    """The filter's canonical text; empty: any job."""
    return " ".join(_conditions(wanted))


def _conditions(wanted: JobFilter) -> Iterator[str]:
    if wanted.statuses:
        yield f"status={','.join(wanted.statuses)}"
    for field, name in (("type", wanted.job_type), ("queue", wanted.queue), ("worker", wanted.worker_id)):
        if name is not None:
            yield f"{field}={_value(name)}"
    if wanted.priority_from is not None and wanted.priority_from == wanted.priority_to:
        yield f"priority={wanted.priority_from}"
    else:
        if wanted.priority_from is not None:
            yield f"priority>={wanted.priority_from}"
        if wanted.priority_to is not None:
            yield f"priority<={wanted.priority_to}"
    for field in _TIMES:
        for side, operator in (("since", ">"), ("until", "<")):
            moment: Moment | None = getattr(wanted, f"{field}_{side}")
            if moment is not None:
                yield f"{field}{operator}{_written(moment)}"
    if wanted.error is not None:
        yield f"error~{_value(wanted.error)}"
    for condition in wanted.data:
        place = "data" + "".join(f".{name if is_plain_name(name) else quoted(name)}" for name in condition.path)
        yield place if condition.value is None else f"{place}={_data_value(condition.value)}"
    if wanted.ids:
        yield f"id={','.join(map(str, wanted.ids))}"


def _value(text: str) -> str:
    return text if is_plain_value(text) else quoted(text)


def _data_value(value: str) -> str:
    text = json.loads(value) if value.startswith('"') else None
    if text is None:
        return value
    # Without quotes 42 would be the number, and true no text.
    return text if is_plain_value(text) and _json_word(text) is None else quoted(text)


def _written(moment: Moment) -> str:
    if isinstance(moment, timedelta):
        return write_duration(moment)
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _operator(word: Word, *allowed: str) -> None:
    if word.operator not in allowed:
        said = f"not {word.operator}" if word.operator else "and a value"
        raise word.error(f"{word.field} goes with {' or '.join(allowed)}, {said}")


def _read_status(word: Word, _: JobFilter) -> dict[str, Any]:
    _operator(word, "=")
    statuses = []
    for name in word.value.split(","):
        if name not in Status.__members__.values():
            raise word.error(f"there is no status {name!r}; there are {', '.join(Status)}")
        statuses.append(Status(name))
    return {"statuses": tuple(dict.fromkeys(statuses))}


def _name_reader(attribute: str, limit: int = NAME_LIMIT) -> Callable[[Word, JobFilter], dict[str, Any]]:
    def read(word: Word, _: JobFilter) -> dict[str, Any]:
        _operator(word, "=")
        if not 1 <= len(word.value) <= limit:
            raise word.error(f"a {word.field} has 1 to {limit} characters, not {len(word.value)}")
        return {attribute: word.value}

    return read


def _read_priority(word: Word, _: JobFilter) -> dict[str, Any]:
    _operator(word, "=", ">", ">=", "<", "<=")
    if not _WHOLE.fullmatch(word.value):
        raise word.error(f"priority takes a whole number, not {word.value!r}")
    number = int(word.value)
    low = {"=": number, ">": number + 1, ">=": number}.get(word.operator)
    high = {"=": number, "<": number - 1, "<=": number}.get(word.operator)
    changes = {name: value for name, value in (("priority_from", low), ("priority_to", high)) if value is not None}
    if not all(LOWEST_PRIORITY <= value <= HIGHEST_PRIORITY for value in changes.values()):
        raise word.error(f"no priority can be there: they go from {LOWEST_PRIORITY} to {HIGHEST_PRIORITY}")
    return changes


def _read_time(word: Word, _: JobFilter) -> dict[str, Any]:
    _operator(word, ">", ">=", "<", "<=")
    side = "since" if word.operator[0] == ">" else "until"
    return {f"{word.field}_{side}": _moment(word)}


def _moment(word: Word) -> Moment:
    try:
        age = parse_duration(word.value)
    except ValueError:
        pass
    else:
        return timedelta(milliseconds=age // timedelta(milliseconds=1))
    try:
        time = datetime.fromisoformat(word.value)
        return (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise word.error(f"{word.value!r} is no time; write 2h or 3d for how long ago, or 2030-01-31T12:00Z") from None


def _read_error(word: Word, _: JobFilter) -> dict[str, Any]:
    _operator(word, "~")
    if not word.value:
        raise word.error("is empty; write a part of the error's text")
    return {"error": word.value}


def _read_ids(word: Word, _: JobFilter) -> dict[str, Any]:
    _operator(word, "=")
    ids = []
    for name in word.value.split(","):
        try:
            ids.append(UUID(name))
        except ValueError:
            raise word.error(f"{name!r} is not a job id; ids look like 0193a0e4-7c1f-7e2a-9d3b-5f6a7b8c9d0e") from None
    if len(ids) > IDS_LIMIT:
        raise word.error(f"names {len(ids):,} jobs; at most {IDS_LIMIT:,} can be named")
    return {"ids": tuple(dict.fromkeys(ids))}


def _read_data(word: Word, so_far: JobFilter) -> dict[str, Any]:
    if not word.path or "" in word.path:
        raise word.error("name a place in the arguments, such as data.customer.id")
    if word.operator:
        _operator(word, "=")
    if len(word.path) > PATH_LIMIT or len(so_far.data) >= DATA_LIMIT:
        raise word.error(f"is too much: at most {DATA_LIMIT} conditions on data, each at most {PATH_LIMIT} names deep")
    value = None
    if word.operator:
        value = json.dumps(word.value) if word.quoted else (_json_word(word.value) or json.dumps(word.value))
    condition = DataCondition(word.path, value)
    return {"data": tuple(dict.fromkeys((*so_far.data, condition)))}


def _json_word(text: str) -> str | None:
    """What stands for itself in JSON; None: it is a text."""
    return text if text in ("true", "false", "null") or _NUMBER.fullmatch(text) else None


_READERS: dict[str, Callable[[Word, JobFilter], dict[str, Any]]] = {
    "status": _read_status,
    "type": _name_reader("job_type"),
    "queue": _name_reader("queue"),
    "worker": _name_reader("worker_id", 100),
    "priority": _read_priority,
    **dict.fromkeys(_TIMES, _read_time),
    "error": _read_error,
    "id": _read_ids,
    "data": _read_data,
}
