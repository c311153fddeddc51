"""The words of a filter's text: `field operator value`, apart by spaces; a quoted value may hold spaces itself.

    status=failed,cancelled type=encode error~"timed out" data.user.id=42 created>2h priority>=50

A bare field of `data` (`data.user.id`) asks whether it is there. Names inside `data` with dots, spaces or operators in
them are quoted: `data."a.b"=1`. There may be spaces on both sides of an operator.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from howdah.model.context import is_storable
from howdah.model.errors import FilterError

TEXT_LIMIT = 4000
_FIELD = re.compile(r"[^\s=~<>!.\"']*")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'", re.DOTALL)
_OPERATOR = re.compile(r"(\s*)(>=|<=|!=|=|~|>|<)(\s*)")
_BARE = re.compile(r"\S*")


@dataclass(frozen=True, slots=True)
class Word:
    """One condition as it was written. `operator` is empty where there is none."""

    field: str
    path: tuple[str, ...]
    operator: str
    value: str
    quoted: bool
    text: str
    start: int
    end: int

    def error(self, reason: str) -> FilterError:
        """What is wrong with this word."""
        return FilterError(reason, self.text, self.field, self.start, self.end)


def read_words(text: str) -> list[Word]:
    """Take the text apart, or say at which word that fails."""
    if len(text) > TEXT_LIMIT:
        raise FilterError(f"it has {len(text):,} characters; at most {TEXT_LIMIT:,} are read")
    if not is_storable(text):
        raise FilterError("it has a NUL character or a lone surrogate, which PostgreSQL cannot store")
    words = []
    position = 0
    while rest := text[position:].lstrip():
        word = _read_word(text, len(text) - len(rest))
        words.append(word)
        position = word.end
    return words


def quoted(text: str) -> str:
    """A text as a quoted value."""
    return json.dumps(text, ensure_ascii=False)


def is_plain_name(name: str) -> bool:
    """Whether a name inside `data` needs no quotes."""
    return bool(name) and name.isprintable() and _FIELD.fullmatch(name) is not None


def is_plain_value(text: str) -> bool:
    """Whether a value needs no quotes."""
    return bool(text) and text.isprintable() and not set(text) & set(" \"'=~<>!")


def _read_word(text: str, start: int) -> Word:
    head = _FIELD.match(text, start)
    assert head is not None, "the pattern fits the empty text"
    path, position = _read_path(text, start, head.end())
    operator = _OPERATOR.match(text, position)
    if operator is None or (operator[1] and not operator[3] and operator.end() < len(text)):
        # `type =x` may be a slip, `data.a =x` certainly is one; but a bare field is a word.
        end = position if operator is None else operator.end()
        rest = _BARE.match(text, position)
        if operator is not None or (rest is not None and rest[0]):
            end = max(end, rest.end() if rest is not None else end)
            raise FilterError(
                "cannot be read; write field=value, with quotes around a value that has spaces in it",
                text[start:end].strip() or text[start : start + 20],
                head[0],
                start,
                end,
            )
        return Word(head[0], path, "", "", False, text[start:position], start, position)
    value, was_quoted, end = _read_value(text, start, head[0], operator)
    return Word(head[0], path, operator[2], value, was_quoted, text[start:end], start, end)


def _read_path(text: str, start: int, position: int) -> tuple[tuple[str, ...], int]:
    path: list[str] = []
    while text[position : position + 1] == ".":
        name = _QUOTED.match(text, position + 1)
        if name is not None:
            path.append(_unquoted(name[0], text, start, name.end()))
            position = name.end()
            continue
        bare = _FIELD.match(text, position + 1)
        assert bare is not None, "the pattern fits the empty text"
        path.append(bare[0])
        position = bare.end()
    return tuple(path), position


def _read_value(text: str, start: int, field: str, operator: re.Match[str]) -> tuple[str, bool, int]:
    position = operator.end()
    if operator[3] and not operator[1]:
        position = operator.end(2)  # `type= queue=b`: the next word is not the value of this one
    found = _QUOTED.match(text, position)
    bare = _BARE.match(text, position)
    assert bare is not None, "the pattern fits the empty text"
    if found is None:
        if not bare[0]:
            raise FilterError("has no value after it", text[start:position].strip(), field, start, position)
        if bare[0][0] in "\"'":
            raise FilterError("has a quote that is not closed", text[start:].strip(), field, start, len(text))
        if '"' in bare[0] or bare[0][0] in "=~<>!":
            reason = "cannot be read; put quotes around the whole value"
            raise FilterError(reason, text[start : bare.end()], field, start, bare.end())
        return bare[0], False, bare.end()
    if bare.end() > found.end() and not text[found.end()].isspace():
        raise FilterError("goes on after its closing quote", text[start : bare.end()], field, start, bare.end())
    return _unquoted(found[0], text, start, found.end()), True, found.end()


def _unquoted(written: str, text: str, start: int, end: int) -> str:
    if written[0] == "'":
        return written[1:-1]
    try:
        value = json.loads(written, strict=False)
    except ValueError:
        raise FilterError(
            'has a backslash that means nothing; write \\\\ for a backslash and \\" for a quote',
            text[start:end],
            start=start,
            end=end,
        ) from None
    assert isinstance(value, str), "a quoted JSON text is a text"
    if not is_storable(value):
        raise FilterError("has a NUL character or a lone surrogate", text[start:end], start=start, end=end)
    return value
