"""The SQL files, read once, with the schema's name put in.

Tables and functions are written `howdah.name` in every .sql file; that exact token is replaced by the schema in use,
quoted, and nothing else is ever replaced. The files about roles also name the schema itself, as `SCHEMA howdah`, and
the roles, as `howdah_producer` and so on; there these tokens are replaced too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from howdah.model.errors import OptionError

DEFAULT_SCHEMA = "howdah"
#: What each role's name ends in, after the name of the schema.
ROLES = ("producer", "worker", "admin", "reader", "payload_reader")
_TOKEN = "howdah."  # noqa: S105 - not a password: the token that every .sql file writes before a name


_OLDEST_CODE = re.compile(r"-- Oldest code: (\d+)\n")


@dataclass(frozen=True)
class Migration:
    """One numbered, named step of the schema."""

    version: int
    name: str
    text: str

    @property
    def oldest_code(self) -> int | None:
        """The version of the oldest code that can use the schema after it, as its first line says; None: no word."""
        said = _OLDEST_CODE.match(self.text)
        return int(said.group(1)) if said is not None else None


@dataclass(frozen=True)
class SchemaVersion:
    """How far a database has been migrated, and the version of the oldest code that may still use it."""

    number: int
    oldest_code: int

    def serves(self, code: int) -> bool:
        """Whether code written for that version works with it: a rolling deploy migrates first, and older processes
        go on, and start again, until they are replaced."""
        return self.oldest_code <= code <= self.number


class Catalog:
    """Statements and migrations for one schema."""

    def __init__(self, schema: str = DEFAULT_SCHEMA) -> None:
        self.schema = schema
        self._prefix = quote(schema) + "."

    def text(self, name: str) -> bytes:
        """The text of `sql/queries/<name>.sql`."""
        return _query(name, self._prefix)

    def migrations(self) -> list[Migration]:
        """All migrations, oldest first."""
        return [Migration(version, name, text.replace(_TOKEN, self._prefix)) for version, name, text in _migrations()]

    def role(self, kind: str) -> str:
        """The name of that role: it begins with the schema's, because roles belong to the whole server."""
        return f"{self.schema}_{kind}"

    def roles_text(self, name: str) -> str:
        """The text of `sql/roles/<name>.sql`."""
        text = files("howdah.sql").joinpath("roles", f"{name}.sql").read_text().replace(_TOKEN, self._prefix)
        for kind in ROLES:
            text = text.replace(f"{DEFAULT_SCHEMA}_{kind}", quote(self.role(kind)))
        return text.replace(f"SCHEMA {DEFAULT_SCHEMA}", f"SCHEMA {quote(self.schema)}")

    @property
    def version(self) -> int:
        """The schema version that this code is written for."""
        return max(version for version, _, _ in _migrations())


def quote(identifier: str) -> str:
    """An identifier as PostgreSQL reads it back unchanged."""
    if not identifier or len(identifier.encode(errors="replace")) > 63 or any(c in identifier for c in "\0'%$"):
        # They would break literals, bodies of functions or placeholders of the .sql files; nobody names a schema so.
        raise OptionError(f"schema name {identifier!r} must have 1 to 63 bytes, none of them ' % $ or NUL")
    return '"' + identifier.replace('"', '""') + '"'


@lru_cache(maxsize=1024)
def _query(name: str, prefix: str) -> bytes:
    room, _, verb = name.partition("/")
    return files("howdah.sql").joinpath("queries", room, f"{verb}.sql").read_text().replace(_TOKEN, prefix).encode()


@cache
def _migrations() -> tuple[tuple[int, str, str], ...]:
    found = []
    for file in files("howdah.sql").joinpath("migrations").iterdir():
        number, _, rest = file.name.partition("_")
        if file.name.endswith(".sql"):
            found.append((int(number), rest.removesuffix(".sql"), file.read_text()))
    return tuple(sorted(found))
