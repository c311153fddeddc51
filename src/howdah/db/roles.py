"""The roles of a schema and their rights: an optional step after the migrations, which may be repeated.

The roles are made once, by somebody who may; their rights are given by the owner of the tables, and again after every
migration, because CREATE OR REPLACE takes a function's pinned search_path and its SECURITY DEFINER away. A function in
that state refuses what it should allow; it never allows what it should refuse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from howdah.db.catalog import ROLES, Catalog, quote
from howdah.db.faults import explained
from howdah.model.errors import DatabaseUnavailable, OptionError, SchemaMissing, UserError


@dataclass(frozen=True, slots=True)
class SetUp:
    """What the step did."""

    created: list[str]
    owner: str
    owner_is_superuser: bool


@dataclass(frozen=True, slots=True)
class _Standing:
    """Who runs the step, and whose the tables are."""

    me: str
    may_create: bool
    owner: str
    may_own: bool
    owner_is_superuser: bool
    strangers: int


@dataclass(frozen=True, slots=True)
class _Taken:
    """A role that has one of the names already."""

    name: str
    can_log_in: bool
    has_powers: bool
    is_member: bool
    has_strange_members: bool


def names(catalog: Catalog) -> list[str]:
    """The roles of this schema."""
    made = [catalog.role(kind) for kind in ROLES]
    if any(len(name.encode(errors="replace")) > 63 for name in made):
        raise OptionError(f"schema name {catalog.schema!r} is too long: role {max(made, key=len)!r} has over 63 bytes")
    return made


def set_up(connection: psycopg.Connection[Any], catalog: Catalog) -> SetUp:
    """Make the roles that are missing and give all of them their rights, in one transaction."""
    with explained(), connection.transaction():
        _lock(connection, catalog)
        standing = _read_standing(connection, catalog)
        rows = connection.execute(catalog.text("roles/list_taken"), {"names": names(catalog)}).fetchall()
        taken = [_Taken(*row) for row in rows]
        missing = sorted(set(names(catalog)) - {role.name for role in taken})
        _check(standing, taken, missing)
        connection.execute(catalog.roles_text("create").encode())
        renew(connection, catalog)
    return SetUp(missing, standing.owner, standing.owner_is_superuser)


def become_owner(connection: psycopg.Connection[Any], catalog: Catalog) -> bool:
    """Where roles were set up, act as the owner of the tables until the transaction ends; False: they were not."""
    parameters = {"producer": catalog.role("producer")}
    return connection.execute(catalog.text("roles/become_owner"), parameters).fetchone() is not None


def renew(connection: psycopg.Connection[Any], catalog: Catalog) -> None:
    """Give the roles their rights again."""
    connection.execute(catalog.roles_text("grant").encode())


def script(catalog: Catalog) -> str:
    """The whole step as text, for those who apply SQL themselves."""
    names(catalog)  # or say why not
    return f"BEGIN;\n{catalog.roles_text('create')}\n{catalog.roles_text('grant')}COMMIT;\n"


def _lock(connection: psycopg.Connection[Any], catalog: Catalog) -> None:
    # The migrations' own lock: neither of the two steps under the other's feet.
    connection.execute(catalog.text("schema/lock_migrations"), {"key": f"howdah:{catalog.schema}"})


def _read_standing(connection: psycopg.Connection[Any], catalog: Catalog) -> _Standing:
    row = connection.execute(catalog.text("roles/read_standing")).fetchone()
    if row is None:
        raise SchemaMissing(f"no Howdah tables in schema {quote(catalog.schema)}; run `howdah migrate`")
    return _Standing(*row)


def _check(standing: _Standing, taken: Sequence[_Taken], missing: Sequence[str]) -> None:
    """Refuse before anything is changed, saying what to do."""
    for role in taken:
        reason = _unfit(role)
        if reason is not None:
            raise UserError(f"role {role.name} exists and {reason}, so it is not Howdah's; rename it, and ask again")
    if not standing.may_own:
        raise DatabaseUnavailable(
            f"no rights: the tables belong to role {standing.owner}, and {standing.me} is not a member of it;"
            f" run this as {standing.owner} or as a superuser"
        )
    if standing.strangers:
        raise UserError(
            f"{standing.strangers} objects in the schema do not belong to role {standing.owner}, whose the tables are;"
            " give them to it, or move them elsewhere"
        )
    if missing and not standing.may_create:
        raise DatabaseUnavailable(
            f"no rights: role {standing.me} may not create roles; run this as one that may (CREATEROLE), or have these"
            f" created first, NOLOGIN and without members: {', '.join(missing)}"
        )


def _unfit(role: _Taken) -> str | None:
    if role.can_log_in:
        return "can log in"
    if role.has_powers:
        return "has powers of its own (superuser, CREATEROLE or the like)"
    if role.is_member:
        return "is a member of another role"
    if role.has_strange_members:
        return "has members already"
    return None
