"""The fields beside the search box: each is a part of the filter's text, so that one thing is searched for, parsed and
kept in links. What is wrong with a field is told beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from howdah.admin.filter_text import parse_filter, render_filter
from howdah.admin.filter_words import quoted
from howdah.admin.filters import JobFilter
from howdah.model.errors import FilterError
from howdah.web.access import User
from howdah.web.redaction import Redaction

#: Name in the form → the field of the filter's text that it stands for.
FIELDS = {
    "status": "status",
    "type": "type",
    "queue": "queue",
    "worker": "worker",
    "priority": "priority",
    "after": "created",
    "until": "created",
    "error": "error",
    "data": "data",
}
_OPERATORS = (">=", "<=", ">", "<", "=")


@dataclass(frozen=True, slots=True)
class Search:
    """What was asked for. `wrong`: what is wrong with it, under the name of the field that it belongs to, or `q`."""

    text: str
    wanted: JobFilter | None
    wrong: dict[str, str]
    values: dict[str, str]
    is_canonical: bool


def read_search(given: Mapping[str, str], user: User, redaction: Redaction) -> Search:
    """From the box and the fields together: all conditions must fit at once."""
    values = {name: given.get(name, "").strip() for name in FIELDS}
    words = [_word(name, value) for name, value in values.items() if value]
    text = " ".join([given.get("q", "").strip(), *words]).strip()
    try:
        wanted = parse_filter(text)
        _check_allowed(wanted, user, redaction)
    except FilterError as error:
        place = next((name for name, field in FIELDS.items() if field == error.field and values[name]), "q")
        return Search(given.get("q", ""), None, {place: _beside(error, place)}, values, True)
    return Search(render_filter(wanted), wanted, {}, values, not words)


def _word(name: str, value: str) -> str:
    if name == "status":
        return f"status={value}"
    if name == "priority":
        operator = next((found for found in _OPERATORS if value.startswith(found)), "")
        return f"priority{operator or '='}{quoted(value.removeprefix(operator).strip())}"
    if name in ("after", "until"):
        return f"created{'>' if name == 'after' else '<'}{quoted(value)}"
    if name == "error":
        return f"error~{quoted(value)}"
    if name == "data":
        return value if value.startswith("data.") else f"data.{value}"
    return f"{FIELDS[name]}={quoted(value)}"


def _beside(error: FilterError, place: str) -> str:
    return (
        error.reason
        if place != "q" or not error.word
        else f"at {json.dumps(error.word, ensure_ascii=False)}: {error.reason}"
    )


def _check_allowed(wanted: JobFilter, user: User, redaction: Redaction) -> None:
    """A search tells whether something is there: who may not see it must not be able to ask either."""
    if wanted.is_deep and not user.payloads:
        field = "error" if wanted.error is not None else "data"
        raise FilterError("you may not see what jobs carry, so you cannot search in it", field, field)
    for condition in wanted.data:
        if redaction.names(condition.path):
            name = ".".join(condition.path)
            raise FilterError(f"{name} is hidden from everyone, so nobody can search in it", f"data.{name}", "data")
