from __future__ import annotations

from collections.abc import Iterator

import pytest

from howdah.admin.doctor.finding import Level
from howdah.db import roles
from howdah.db.catalog import Catalog
from tests.conftest import Database
from tests.doctor.conftest import Diagnose

ORPHAN = "doctors_owner"


@pytest.fixture
def _roles(database: Database) -> Iterator[None]:
    """Roles, and tables that belong to nobody's superuser."""
    with database.connect() as sql:
        sql.execute(f"CREATE ROLE {ORPHAN}".encode())
        roles.set_up(sql, Catalog())
        for (statement,) in sql.execute(
            "SELECT format('ALTER %%s %%s OWNER TO %%I', CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END,"
            " oid::regclass, %(owner)s::text) FROM pg_class"
            " WHERE relnamespace = 'howdah'::regnamespace AND relkind IN ('r', 'p', 'v')"
            " UNION ALL SELECT format('ALTER FUNCTION %%s OWNER TO %%I', oid::regprocedure, %(owner)s::text)"
            " FROM pg_proc WHERE pronamespace = 'howdah'::regnamespace",
            {"owner": ORPHAN},
        ).fetchall():
            sql.execute(statement.encode())
    yield
    with database.connect() as sql:
        sql.execute(f"DROP OWNED BY {ORPHAN} CASCADE; DROP ROLE {ORPHAN}".encode())


def test_no_roles_are_no_fault(diagnose: Diagnose) -> None:
    assert diagnose()["roles"].level is Level.OK


@pytest.mark.usefixtures("_roles")
@pytest.mark.parametrize(
    ("harm", "word"),
    [
        ("CREATE FUNCTION howdah.added() RETURNS int LANGUAGE sql AS 'SELECT 1'", "function added"),
        ("GRANT EXECUTE ON FUNCTION howdah.retry_job TO PUBLIC", "function retry_job"),
        ("GRANT SELECT ON howdah.jobs TO PUBLIC", "table jobs"),
        ("GRANT SELECT (data) ON howdah.jobs TO PUBLIC", "table jobs"),
        ("ALTER FUNCTION howdah.cancel_job RESET search_path", "cancel_job"),
        ("ALTER FUNCTION howdah.cancel_job SET search_path = howdah", "cancel_job"),
        ("ALTER FUNCTION howdah.jobs_inserted SECURITY INVOKER RESET ALL", "jobs_inserted"),
        ("ALTER FUNCTION howdah.retry_job OWNER TO CURRENT_USER", "retry_job"),
        ("ALTER FUNCTION howdah.get_job SECURITY INVOKER RESET ALL", "get_job"),
    ],
)
def test_rights_that_went_astray(database: Database, diagnose: Diagnose, harm: str, word: str) -> None:
    assert diagnose().troubled == set()
    with database.connect() as sql:
        sql.execute(harm.encode())
    diagnosis = diagnose()
    assert diagnosis.troubled == {"roles"}
    assert diagnosis["roles"].level is Level.FAIL
    assert word in diagnosis["roles"].message
    assert "howdah roles" in str(diagnosis["roles"].next_step)


@pytest.mark.usefixtures("_roles")
def test_tables_of_a_superuser(database: Database, diagnose: Diagnose) -> None:
    with database.connect() as sql:
        sql.execute(f"ALTER ROLE {ORPHAN} SUPERUSER".encode())
    diagnosis = diagnose()
    assert diagnosis.troubled == {"roles"}
    assert diagnosis["roles"].level is Level.WARN
    assert "superuser" in diagnosis["roles"].message
