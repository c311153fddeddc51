"""Numbered, forward-only migrations, each in one transaction, safe to start from several processes at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg

from howdah.db import roles
from howdah.db.catalog import Catalog, Migration, SchemaVersion, quote
from howdah.db.faults import explained
from howdah.model.errors import SchemaMissing, SchemaTooNew, SchemaTooOld, UserError

_OLDEST_SERVER = 140000


def current_version(connection: psycopg.Connection[Any], catalog: Catalog) -> SchemaVersion | None:
    """The version in the database; None where Howdah's tables are not there at all."""
    row = connection.execute(catalog.text("schema/find_version_table")).fetchone()
    if row is None or row[0] is None:
        return None
    row = connection.execute(catalog.text("schema/read_version")).fetchone()
    return SchemaVersion(*row) if row is not None and row[0] is not None else None


def migrate(connection: psycopg.Connection[Any], catalog: Catalog) -> list[Migration]:
    """Apply what is missing and return it. Running it again, or twice at once, applies nothing twice.

    Where roles were set up, their rights are renewed together with the last step: functions that it made or replaced
    have lost theirs.
    """
    if connection.info.server_version < _OLDEST_SERVER:
        raise UserError(f"PostgreSQL 14 or newer is needed; this is {connection.info.server_version // 10000}")
    applied = []
    with explained():
        for migration in catalog.migrations():
            with connection.transaction():
                # Held to the end of the transaction, so that it works behind a pooler in transaction mode too.
                connection.execute(catalog.text("schema/lock_migrations"), {"key": f"howdah:{catalog.schema}"})
                version = current_version(connection, catalog)
                if version is not None and version.number >= migration.version:
                    continue
                has_roles = roles.become_owner(connection, catalog)
                for text in _steps(migration, catalog):
                    connection.execute(text.encode())
                if has_roles and migration.version == catalog.version:
                    roles.renew(connection, catalog)
                applied.append(migration)
    return applied


def script(catalog: Catalog) -> Iterator[str]:
    """All migrations as text, for those who apply SQL themselves."""
    for migration in catalog.migrations():
        yield f"-- {migration.version:04} {migration.name}\nBEGIN;\n"
        yield from (text + "\n" for text in _steps(migration, catalog))
        yield "COMMIT;\n\n"


def check_version(found: SchemaVersion | None, catalog: Catalog) -> None:
    """Refuse a schema that is missing, too old or too new, naming the command to run."""
    wanted = catalog.version
    if found is None:
        raise SchemaMissing(f"no Howdah tables in schema {quote(catalog.schema)}; run `howdah migrate`")
    if found.number < wanted:
        raise SchemaTooOld(f"the schema is at version {found.number}, this code needs {wanted}; run `howdah migrate`")
    if not found.serves(wanted):
        at = f"the schema is at version {found.number}"
        raise SchemaTooNew(f"{at}, this code knows {wanted}; upgrade the howdah package")


def _steps(migration: Migration, catalog: Catalog) -> list[str]:
    record = catalog.text("schema/record_migration").decode()
    steps = [migration.text, record % {"version": migration.version, "name": f"'{migration.name}'"}]
    if migration.oldest_code is not None:
        note = catalog.text("schema/record_oldest_code").decode()
        steps.append(note % {"version": migration.version, "oldest_code": migration.oldest_code})
    if migration.version == 1:
        steps.insert(0, f"CREATE SCHEMA IF NOT EXISTS {quote(catalog.schema)};")
    return steps
