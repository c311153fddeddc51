"""Every function, table, column and sequence by every role, tried on a real server and compared with the manifest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg import errors as pg

from tests.security.conftest import OWNER, Secured, login
from tests.security.manifest import EVERYBODY, FUNCTIONS, NOBODY, PRODUCER, RELATIONS, SEQUENCES, TRIED, may

Sql = psycopg.Connection[Any]


@dataclass(frozen=True)
class Cell:
    """One thing that somebody tries."""

    kind: str
    name: str
    what: str
    statement: str
    allowed: bool


def kind_of(relation: str) -> str:
    """The name under which the manifest has it."""
    return re.sub(r"_\d+_\d+$", "_dated", relation)


def functions(owner: Sql) -> dict[str, list[str]]:
    """Every function with the types of its arguments."""
    rows = owner.execute(
        "SELECT proname, ARRAY(SELECT format_type(t, NULL)"
        " FROM unnest(proargtypes) WITH ORDINALITY AS u (t, n) ORDER BY n)"
        " FROM pg_proc WHERE pronamespace = 'howdah'::regnamespace"
    ).fetchall()
    assert len(rows) == len({name for name, _ in rows}), "GRANT names functions without their arguments"
    return dict(rows)


def relations(owner: Sql) -> dict[str, list[str]]:
    """Every table and view with its columns."""
    rows = owner.execute(
        "SELECT relname, ARRAY(SELECT attname::text FROM pg_attribute AS a"
        " WHERE a.attrelid = c.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum)"
        " FROM pg_class AS c WHERE relnamespace = 'howdah'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')"
    ).fetchall()
    return dict(rows)


def sequences(owner: Sql) -> list[str]:
    rows = owner.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'howdah'::regnamespace AND relkind = 'S'"
    ).fetchall()
    return [name for (name,) in rows]


def function_cells(owner: Sql, who: str) -> Iterator[Cell]:
    for name, types in functions(owner).items():
        # Not constants: the planner would answer for a STRICT function without asking whether it may be called.
        values = ", ".join(f"NULL::{kind} AS a{n}" for n, kind in enumerate(types)) or "1 AS none"
        names = ", ".join(f"v.a{n}" for n in range(len(types)))
        statement = f"SELECT howdah.{name}({names}) FROM (SELECT {values} OFFSET 0) AS v"
        yield Cell("function", name, "EXECUTE", statement, who in FUNCTIONS[name])


def relation_cells(owner: Sql, who: str) -> Iterator[Cell]:
    for name, columns in relations(owner).items():
        kind = "view" if name == "job_lines" else "table"
        cells = [
            *(("SELECT", column, f"SELECT {column} FROM howdah.{name} LIMIT 0") for column in columns),
            *(("INSERT", column, f"INSERT INTO howdah.{name} ({column}) VALUES (DEFAULT)") for column in columns),
            *(("UPDATE", column, f"UPDATE howdah.{name} SET {column} = DEFAULT WHERE false") for column in columns),
            ("SELECT", "*", f"SELECT * FROM howdah.{name} LIMIT 0"),
            ("DELETE", "*", f"DELETE FROM howdah.{name} WHERE false"),
        ]
        if kind == "table":
            cells.append(("TRUNCATE", "*", f"TRUNCATE howdah.{name}"))
        for what, column, statement in cells:
            if kind == "view" and what in ("INSERT", "UPDATE") and column == "last_error":
                continue  # computed: nobody can write to it, whatever his rights
            yield Cell(kind, name, f"{what} {column}", statement, may(kind_of(name), who, what, column))


def sequence_cells(owner: Sql, who: str) -> Iterator[Cell]:
    for name in sequences(owner):
        for what in (f"nextval('howdah.{name}')", f"setval('howdah.{name}', 1)", f"last_value FROM howdah.{name}"):
            yield Cell("sequence", name, what, f"SELECT {what}", who in SEQUENCES[name])


def outcome(sql: Sql, cell: Cell) -> str:
    """allowed, forbidden at its own door, or whatever else."""
    try:
        with sql.transaction(force_rollback=True):
            sql.execute("SET LOCAL lock_timeout = '5s'")
            sql.execute(cell.statement.encode())
    except pg.InsufficientPrivilege as error:
        # Behind the door would be worse: then it may be called, and only what it does is not allowed.
        door = f"permission denied for {cell.kind} {cell.name}"
        said = (error.diag.message_primary or "").replace("for aggregate ", "for function ")
        return "forbidden" if said == door else f"forbidden: {said}"
    except (psycopg.OperationalError, psycopg.ProgrammingError) as error:
        return f"was not tried: {error}"
    except psycopg.Error:
        return "allowed"  # it got in, and was told that nulls are no use
    return "allowed"


def cells_of(owner: Sql, who: str) -> list[Cell]:
    owner.execute("SET search_path TO ''")  # types are then named with their schema
    return [
        *function_cells(owner, who),
        *relation_cells(owner, who),
        *sequence_cells(owner, who),
        Cell("schema", "howdah", "CREATE", "CREATE TABLE howdah.mine ()", allowed=False),
    ]


def mismatches(sql: Sql, cells: list[Cell]) -> list[str]:
    tried = [(cell, outcome(sql, cell)) for cell in cells]
    return [
        f"{cell.kind} {cell.name}, {cell.what}: {answer}"
        for cell, answer in tried
        if answer != ("allowed" if cell.allowed else "forbidden")
    ]


@pytest.mark.parametrize("who", TRIED)
def test_every_cell_of_the_matrix(secured: Secured, who: str) -> None:
    with secured.connect(OWNER) as owner, secured.connect(who) as sql:
        if who == NOBODY:
            # As near as one can come without a right to anything: or the schema's own door would answer for all.
            owner.execute(f"GRANT USAGE ON SCHEMA howdah TO {login(NOBODY)}".encode())
        cells = cells_of(owner, who)
        wrong = mismatches(sql, cells)
    print(f"{who}: {len(cells)} cells, {sum(cell.allowed for cell in cells)} allowed, {len(wrong)} mismatches")
    assert wrong == []
    assert len(cells) >= 400


@pytest.mark.parametrize(
    ("change", "noticed"),
    [
        ("GRANT EXECUTE ON FUNCTION howdah.retry_job TO howdah_producer", "function retry_job, EXECUTE: allowed"),
        ("GRANT EXECUTE ON FUNCTION howdah.backoff TO PUBLIC", "function backoff, EXECUTE: allowed"),
        ("GRANT SELECT (data) ON howdah.jobs TO howdah_producer", "table jobs, SELECT data: allowed"),
        ("GRANT INSERT (status) ON howdah.jobs TO howdah_producer", "table jobs, INSERT status: allowed"),
        (
            "REVOKE EXECUTE ON FUNCTION howdah.cancel_job FROM howdah_producer",
            "function cancel_job, EXECUTE: forbidden",
        ),
        (
            "ALTER FUNCTION howdah.sweep_late SECURITY INVOKER; GRANT EXECUTE ON FUNCTION howdah.sweep_late TO PUBLIC",
            "function sweep_late, EXECUTE: forbidden: permission denied for table late",
        ),
    ],
)
def test_a_right_too_many_or_too_few_is_noticed(secured: Secured, change: str, noticed: str) -> None:
    with secured.connect(OWNER) as owner, secured.connect(PRODUCER) as sql:
        owner.execute(change.encode())
        assert mismatches(sql, cells_of(owner, PRODUCER)) == [noticed]


def test_without_a_role_the_schema_itself_is_closed(secured: Secured) -> None:
    with secured.connect(NOBODY) as sql, pytest.raises(pg.InsufficientPrivilege, match="schema howdah"):
        sql.execute("SELECT howdah.get_status(NULL)")


def test_everything_has_its_row_in_the_manifest(secured: Secured) -> None:
    with secured.connect(OWNER) as owner:
        assert set(functions(owner)) == set(FUNCTIONS)
        assert {kind_of(name) for name in relations(owner)} == set(RELATIONS)
        assert set(sequences(owner)) == set(SEQUENCES)


def test_a_new_function_or_table_without_a_row_is_noticed(secured: Secured) -> None:
    with secured.connect(OWNER) as owner:
        owner.execute(
            "CREATE FUNCTION howdah.added() RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE TABLE howdah.extra ()"
        )
        assert set(functions(owner)) - set(FUNCTIONS) == {"added"}
        assert {kind_of(name) for name in relations(owner)} - set(RELATIONS) == {"extra"}


def test_roles_are_siblings_without_powers_and_own_nothing(secured: Secured) -> None:
    names = [f"howdah_{who}" for who in EVERYBODY]
    with secured.connect() as sql:
        plain = sql.execute(
            "SELECT rolname FROM pg_roles WHERE rolname = ANY (%s) AND NOT (rolcanlogin OR rolsuper OR rolcreaterole"
            " OR rolcreatedb OR rolreplication OR rolbypassrls) AND NOT EXISTS"
            " (SELECT FROM pg_auth_members AS m WHERE m.member = pg_roles.oid)",
            (names,),
        ).fetchall()
        assert sorted(name for (name,) in plain) == sorted(names)
        for who in EVERYBODY:
            reached = sql.execute(
                "SELECT rolname FROM pg_roles WHERE pg_has_role(%s, oid, 'MEMBER') AND rolname <> %s",
                (login(who), login(who)),
            ).fetchall()
            assert reached == [(f"howdah_{who}",)]
        owned = "SELECT count(*) FROM pg_shdepend AS d JOIN pg_roles AS r ON r.oid = d.refobjid"
        row = sql.execute(f"{owned} WHERE d.deptype = 'o' AND r.rolname = ANY (%s)".encode(), (names,)).fetchone()
        assert row == (0,)


def test_nothing_is_open_to_public_and_every_definer_is_pinned(secured: Secured) -> None:
    with secured.connect() as sql:
        rows = sql.execute(
            "SELECT proname, prosecdef, proconfig, has_function_privilege('public', oid, 'EXECUTE'),"
            " proowner::regrole::text FROM pg_proc WHERE pronamespace = 'howdah'::regnamespace"
        ).fetchall()
    assert [name for name, _, _, is_open, _ in rows if is_open] == []
    definers = {name for name, definer, *_ in rows if definer}
    pinned = {name for name, _, config, *_ in rows if "search_path=pg_catalog, pg_temp" in (config or [])}
    called = {name for name, who in FUNCTIONS.items() if who}
    assert definers <= pinned
    # Every name is written out in lane_of; sum_counts is an aggregate, and its only function is pinned.
    assert called - pinned == {"lane_of", "sum_counts"}
    assert called - definers == {"lane_of", "new_job_id", "list_partitions", "sum_counts"}
    assert {owner for *_, owner in rows} == {OWNER}


def test_tables_can_be_read_inserted_into_and_updated_but_nothing_else(secured: Secured) -> None:
    with secured.connect() as sql:
        rows = sql.execute(
            "SELECT DISTINCT a.privilege_type FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS a"
            " WHERE c.relnamespace = 'howdah'::regnamespace AND a.grantee <> c.relowner"
            " UNION SELECT a.privilege_type FROM pg_class AS c JOIN pg_attribute AS t ON t.attrelid = c.oid"
            " CROSS JOIN LATERAL aclexplode(t.attacl) AS a"
            " WHERE c.relnamespace = 'howdah'::regnamespace AND a.grantee <> c.relowner"
        ).fetchall()
    assert sorted(kind for (kind,) in rows) == ["INSERT", "SELECT", "UPDATE"]
