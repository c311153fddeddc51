"""What a sealed value looks like in the table.

In a column of JSON it is an object with one key:

{"howdah:sealed": {"key": "2026-11", "check": "5f1c09aa", "nonce": "…", "text": "…"}}

`key` names the key, and `check` is computed from it: a different key under the same name is told from a value that
somebody has changed. `nonce` (96 random bits) and `text` (ciphertext and tag) are in base64. In a column of text the
inner object stands on a line of its own after the mark, and below it a line for people.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from uuid import UUID

MARK = "howdah:sealed"
#: How a JSON text of a sealed value begins, as written here and as jsonb writes it.
SEALED_TEXT = f'{{"{MARK}"'
_FIELDS = ("key", "check", "nonce", "text")


@dataclass(frozen=True, slots=True)
class Place:
    """The place that a value belongs to: opened anywhere else, it is refused. `about`: the job's type, or the event's
    name."""

    job_id: UUID
    field: str
    about: str


@dataclass(frozen=True, slots=True)
class Envelope:
    """A sealed value."""

    key: str
    check: str
    nonce: str
    text: str

    def as_json(self) -> str:
        """For a column of JSON."""
        return f'{{"{MARK}":{self._inner()}}}'

    def as_text(self, for_people: str) -> str:
        """For a column of text, whose last line is shown in lists."""
        return f"{MARK} {self._inner()}\n{for_people}"

    def _inner(self) -> str:
        # The key first: a search in the table looks for it there. Nothing in it needs to be escaped.
        return f'{{"key":"{self.key}","check":"{self.check}","nonce":"{self.nonce}","text":"{self.text}"}}'


def in_value(value: object) -> Envelope | None:
    """The envelope that this value from a column of JSON is; None: it is no envelope."""
    inner = value[MARK] if type(value) is dict and len(value) == 1 and MARK in value else None
    if type(inner) is dict and len(inner) == len(_FIELDS) and all(type(inner.get(name)) is str for name in _FIELDS):
        return Envelope(**inner)
    return None


def in_json(text: str) -> Envelope | None:
    """The same for its text."""
    return in_value(_loaded(text)) if text.startswith(SEALED_TEXT) else None


def in_text(text: str) -> Envelope | None:
    """The envelope in a column of text."""
    if not text.startswith(f"{MARK} {{"):
        return None
    return in_value({MARK: _loaded(text[len(MARK) + 1 :].partition("\n")[0])})


def note_for_people(kind: str | None, key: str) -> str:
    """The last line of a sealed error, which lists show."""
    return f"{kind or 'an error'}: its text is sealed with key {key!r}"


def _loaded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
