"""Objects named like those that Howdah's functions use, in a hostile schema and in pg_temp, each of which tells when it
is used.

The functions and operators are found in the bodies of Howdah's own functions, so that a new body brings new shadows.
Whatever is used writes a line into hostile.seen, with the role in whose name it ran, and then does what the true one
does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import psycopg

Sql = psycopg.Connection[Any]

#: Types whose operators are shadowed, and which are shadowed themselves.
TYPES = (
    *("uuid", "text", "int4", "int8", "float8", "numeric", "bool", "timestamptz", "interval", "jsonb", "json", "bytea"),
    *("tid", "xid8", "pg_snapshot", "varchar", "regclass", "name", "oid"),
)
#: Names of relations in the bodies that belong to no schema: catalogs, common table expressions, transition tables.
UNQUALIFIED = (
    *("pg_class", "pg_inherits", "fresh", "gone", "line", "ledger", "judged", "moved", "due", "noted", "taken", "turn"),
    *("made", "inserted", "counted", "kept", "said", "done", "rung", "emptied", "dead", "peek"),
)
#: Aggregates cannot be written in PL/pgSQL: name, argument, state, and how one value is added to the state.
AGGREGATES = (
    ("bool_or", "boolean", "boolean", "$1 OR $2"),
    ("array_agg", "pg_catalog.uuid", "pg_catalog.uuid[]", "pg_catalog.array_append($1, $2)"),
    ("max", "integer", "integer", "GREATEST($1, $2)"),
    ("max", "pg_catalog.timestamptz", "pg_catalog.timestamptz", "GREATEST($1, $2)"),
    ("min", "pg_catalog.timestamptz", "pg_catalog.timestamptz", "LEAST($1, $2)"),
    ("count", "pg_catalog.uuid", "bigint", "$1"),
)
#: Of those that take anything, with the arguments that the bodies give.
VARIADIC = (
    ("format", ("text", "text"), "text"),
    ("format", ("text", "text", "text"), "text"),
    ("format", ("text", "text", "int4", "int4"), "text"),
    ("format", ("text", "text", "interval"), "text"),
    ("format", ("text", "text", "uuid", "uuid"), "text"),
    ("concat", ("text", "text", "text"), "text"),
    ("json_build_object", ("text",) * 8 + ("text", "float8"), "json"),
)


def lay(sql: Sql) -> int:
    """Make every shadow as the role of this connection, which owns the schema `hostile`; how many there are."""
    sql.execute("CREATE TABLE hostile.seen (what pg_catalog.text, whose pg_catalog.name DEFAULT current_user)")
    sql.execute("GRANT INSERT ON hostile.seen TO PUBLIC; GRANT USAGE ON SCHEMA hostile TO PUBLIC")
    sql.execute(
        "CREATE FUNCTION hostile.note(pg_catalog.text) RETURNS boolean LANGUAGE plpgsql AS"
        " $$ BEGIN INSERT INTO hostile.seen VALUES ($1); RETURN true; END $$"
    )
    bodies = "\n".join(
        body for (body,) in sql.execute("SELECT prosrc FROM pg_proc WHERE pronamespace = 'howdah'::regnamespace")
    )
    statements = [
        *functions(sql, set(re.findall(r"\b([a-z_][a-z_0-9]*)\s*\(", bodies))),
        *variadic(),
        *operators(sql, set(re.findall(r"[-+*/<>=~!@#%^&|]+", bodies))),
        *aggregates(),
        *relations(sql),
        # Last: from then on an unqualified `text` is the shadow.
        *types(sql),
    ]
    for statement in statements:
        sql.execute(statement.encode())
    return len(statements)


def functions(sql: Sql, named: set[str]) -> Iterator[str]:
    """Of each function that the bodies call, every form that PL/pgSQL can imitate."""
    rows = sql.execute(
        "SELECT p.proname, pg_get_function_result(p.oid),"
        " ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY AS u (t, n) ORDER BY n)"
        " FROM pg_proc AS p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = ANY (%s)"
        " AND p.prokind = 'f' AND NOT p.proretset AND p.provariadic = 0 AND p.proallargtypes IS NULL"
        " AND NOT EXISTS (SELECT FROM unnest(p.proargtypes || p.prorettype) AS t (id) JOIN pg_type AS k ON k.oid = t.id"
        "   WHERE k.typname IN ('internal', 'cstring', 'any', 'trigger', 'record', 'anycompatible', 'anyelement'))",
        (sorted(named),),
    ).fetchall()
    for name, result, arguments in rows:
        yield function("hostile", name, arguments, result)
        if not arguments:
            # PostgreSQL never looks for functions there; so it says, and so it is tried.
            yield function("pg_temp", name, arguments, result)


def function(schema: str, name: str, arguments: list[str], result: str) -> str:
    values = ", ".join(f"${n}" for n in range(1, len(arguments) + 1))
    true_one = f"pg_catalog.{quoted(name)}({values})"
    answer = f"PERFORM {true_one};" if result == "void" else f"RETURN {true_one};"
    return (
        f"CREATE FUNCTION {schema}.{quoted(name)}({', '.join(arguments)}) RETURNS {result} LANGUAGE plpgsql AS"
        f" $$ BEGIN PERFORM hostile.note('function {schema}.{name}'); {answer} END $$"
    )


def variadic() -> Iterator[str]:
    for name, arguments, result in VARIADIC:
        yield function("hostile", name, [f"pg_catalog.{kind}" for kind in arguments], f"pg_catalog.{result}")


def operators(sql: Sql, symbols: set[str]) -> Iterator[str]:
    rows = sql.execute(
        "SELECT o.oprname, l.typname, r.typname, format_type(o.oprresult, NULL) FROM pg_operator AS o"
        " LEFT JOIN pg_type AS l ON l.oid = o.oprleft JOIN pg_type AS r ON r.oid = o.oprright"
        " WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprname = ANY (%s) AND r.typname = ANY (%s)"
        " AND (o.oprleft = 0 OR l.typname = ANY (%s))",
        (sorted(symbols), list(TYPES), list(TYPES)),
    ).fetchall()
    for number, (symbol, left, right, result) in enumerate(rows):
        sides = [f"pg_catalog.{side}" for side in (left, right) if side is not None]
        applied = f"OPERATOR(pg_catalog.{symbol})"
        answer = f"$1 {applied} $2" if left is not None else f"{applied} $1"
        left_side = f"LEFTARG = {sides[0]}, " if left is not None else ""
        yield (
            f"CREATE FUNCTION hostile.op_{number}({', '.join(sides)}) RETURNS {result} LANGUAGE plpgsql AS"
            f" $$ BEGIN PERFORM hostile.note('operator {symbol} of {right}'); RETURN {answer}; END $$;"
            f" CREATE OPERATOR hostile.{symbol} ({left_side}RIGHTARG = {sides[-1]}, FUNCTION = hostile.op_{number})"
        )


def aggregates() -> Iterator[str]:
    for number, (name, argument, state, step) in enumerate(AGGREGATES):
        yield (
            f"CREATE FUNCTION hostile.step_{number}({state}, {argument}) RETURNS {state} LANGUAGE plpgsql AS"
            f" $$ BEGIN PERFORM hostile.note('aggregate {name}'); RETURN {step}; END $$;"
            f" CREATE AGGREGATE hostile.{name}({argument}) (SFUNC = hostile.step_{number}, STYPE = {state})"
        )


def types(sql: Sql) -> Iterator[str]:
    """Domains that tell of every value; pg_temp is searched for types, and first of all unless it is named."""
    own = sql.execute(
        "SELECT t.typname FROM pg_type AS t WHERE t.typnamespace = 'howdah'::regnamespace AND t.typtype = 'd'"
    ).fetchall()
    for schema in ("hostile", "pg_temp"):
        for name in TYPES:
            yield domain(schema, name, f"pg_catalog.{name}")
        for (name,) in own:
            yield domain(schema, name, f"howdah.{name}")


def domain(schema: str, name: str, true_one: str) -> str:
    return f"CREATE DOMAIN {schema}.{quoted(name)} AS {true_one} CHECK (hostile.note('type {schema}.{name}'))"


def relations(sql: Sql) -> Iterator[str]:
    """Views that tell when they are read, and fail when they are written to."""
    own = sql.execute(
        "SELECT c.relname, ARRAY(SELECT format('NULL::%s AS %I', format_type(a.atttypid, NULL), a.attname)"
        "   FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum)"
        " FROM pg_class AS c WHERE c.relnamespace = 'howdah'::regnamespace AND c.relkind IN ('r', 'p', 'v')"
    ).fetchall()
    for schema in ("hostile", "pg_temp"):
        for name, columns in own:
            yield view(schema, name, ", ".join(columns))
        for name in UNQUALIFIED:
            yield view(schema, name, "NULL::pg_catalog.uuid AS id, NULL::pg_catalog.text AS status")


def view(schema: str, name: str, columns: str) -> str:
    return f"CREATE VIEW {schema}.{quoted(name)} AS SELECT {columns} WHERE hostile.note('relation {schema}.{name}')"


def quoted(name: str) -> str:
    return f'"{name}"'
