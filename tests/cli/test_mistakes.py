"""What a user can get wrong: one line that says what, exit code 2, never a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.cli.conftest import Shell
from tests.conftest import Database
from tests.rig.servers import TestServer
from tests.rig.waiting import until

SOME_ID = "0193a0e4-7c1f-7e2a-9d3b-5f6a7b8c9d0e"
EVERY_COMMAND = [
    ["ls"],
    ["show", SOME_ID],
    ["cancel", SOME_ID],
    ["retry", SOME_ID],
    ["pause", "emails"],
    ["resume", "emails"],
    ["queues"],
    ["workers"],
    ["migrate", "--check"],
]


@pytest.fixture
def role(server: TestServer, database: Database) -> Iterator[str]:
    """A role that may connect and do nothing else."""
    name = f"weak_{database.name}"
    with server.admin() as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'right'".encode())
    yield name
    with database.connect() as connection:
        connection.execute(f"DROP OWNED BY {name}".encode())
        connection.execute(f"DROP ROLE {name}".encode())


@pytest.fixture
def asked_for_password(server: TestServer, role: str) -> Iterator[str]:
    """The same role, made to show its password."""
    rules = Path(server.embedded.status().data) / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all {role} scram-sha-256\n{before}")
    reload_rules(server, role, expected=True)
    yield role
    rules.write_text(before)
    reload_rules(server, role, expected=False)


def reload_rules(server: TestServer, role: str, *, expected: bool) -> None:
    """The server tells nobody when it has read its rules again."""

    def password_needed() -> bool:
        try:
            psycopg.connect(as_role(server.embedded.url("postgres"), role)).close()
        except psycopg.OperationalError as error:
            return "password" in str(error)
        return False

    with server.admin() as connection:
        connection.execute("SELECT pg_reload_conf()")
    until(lambda: password_needed() is expected, "the rules are read")


def as_role(url: str, role: str) -> str:
    return url.replace("postgresql://howdah@", f"postgresql://{role}@")


@pytest.mark.parametrize("command", EVERY_COMMAND, ids=" ".join)
def test_no_database_set(nowhere: Shell, command: list[str]) -> None:
    nowhere(*command).must_be_refused("there is no database", "HOWDAH_URL", "howdah db start")
    assert not (nowhere.folder / ".howdah").exists(), "a command that looks makes no server"


@pytest.mark.parametrize("command", [["ls"], ["pause", "emails"], ["migrate"], ["migrate", "--check"]], ids=" ".join)
def test_no_server_there(nowhere: Shell, command: list[str]) -> None:
    nowhere(*command, "--url", f"postgresql://x@/x?host={nowhere.folder}").must_be_refused("cannot use the database")


@pytest.mark.parametrize("url", ["postgresql://x@127.0.0.1:1/x", "postgresql://x@no.such.host.invalid/x"])
def test_no_server_over_the_network(nowhere: Shell, url: str) -> None:
    nowhere("ls", "--url", url).must_be_refused("cannot use the database")


@pytest.mark.parametrize("url", ["", " ", "nonsense", "mysql://x@y/z", "postgresql://x:secret@[y/z"])
def test_a_url_that_is_none(nowhere: Shell, url: str) -> None:
    answer = nowhere("ls", "--url", url)
    answer.must_be_refused("postgresql://user@host/database")
    assert "secret" not in answer.err


def test_no_such_database_or_role(nowhere: Shell, database: Database) -> None:
    nowhere("ls", "--url", database.url.replace(database.name, "nonesuch")).must_be_refused('"nonesuch" does not exist')
    nowhere("ls", "--url", as_role(database.url, "nobody")).must_be_refused('"nobody" does not exist')


def test_wrong_password(nowhere: Shell, database: Database, asked_for_password: str) -> None:
    wrong = as_role(database.url, f"{asked_for_password}:wrong")
    answer = nowhere("ls", "--url", wrong)
    answer.must_be_refused("password authentication failed")
    assert "wrong@" not in answer.err
    nowhere("ls", "--url", as_role(database.url, f"{asked_for_password}:right")).must_be_refused("no rights")


@pytest.mark.parametrize("command", [*EVERY_COMMAND, ["migrate"], ["enqueue", "jobs:app", "broken"]], ids=" ".join)
def test_no_rights(nowhere: Shell, database: Database, role: str, command: list[str]) -> None:
    nowhere.environment["HOWDAH_URL"] = as_role(database.url, role)
    nowhere(*command).must_be_refused("no rights")


def test_rights_to_read_only(nowhere: Shell, database: Database, role: str) -> None:
    with database.connect() as connection:
        connection.execute(f"GRANT USAGE ON SCHEMA howdah TO {role}".encode())
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA howdah TO {role}".encode())
    nowhere.environment["HOWDAH_URL"] = as_role(database.url, role)
    for command in (["ls"], ["ls", "--counts"], ["ls", "--status", "pending"], ["queues"], ["workers"]):
        nowhere(*command).must_work()
    for command in (["pause", "emails"], ["enqueue", "jobs:app", "broken"]):
        nowhere(*command).must_be_refused("no rights")


def test_a_server_that_only_reads(howdah: Shell, database: Database) -> None:
    with database.connect() as connection:
        connection.execute("SELECT enqueue_job('a')")
        connection.execute(f"ALTER DATABASE {database.name} SET default_transaction_read_only = on".encode())
    [job] = howdah("ls", "--json").must_work().lines
    commands = (
        ["pause", "emails"],
        ["resume", "emails"],
        ["cancel", job["id"]],
        ["retry", job["id"]],
        ["enqueue", "jobs:app", "broken"],
    )
    for command in commands:
        howdah(*command).must_be_refused("read-only", "primary")


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("jobs", ["package.module:variable"]),
        ("jobs:", ["package.module:variable"]),
        (":app", ["package.module:variable"]),
        ("nonesuch:app", ["no module 'nonesuch'"]),
        ("nonesuch.jobs:app", ["no module 'nonesuch'"]),
        ("jobs.deeper:app", ["jobs.deeper"]),
        ("jobs:ap", ["has no 'ap'", "jobs:app"]),
        ("jobs:encode", ["not a Howdah app", "jobs:app"]),
        ("needs_more:app", ["cannot import needs_more", "no_such_library", "needs_more.py, line 1"]),
        ("raises:app", ["cannot import raises", "ZeroDivisionError", "raises.py, line 2"]),
        ("misspelt:app", ["cannot import misspelt", "SyntaxError", "misspelt.py, line 1"]),
        ("twice:app", ["cannot import twice", "registered twice", "(twice.py, line 5)"]),
        ("library:app", ["cannot import library", "JSONDecodeError", "(library.py, line 2)"]),
        ("jobs.py:app", ["'jobs.py:app' names a file", "did you mean jobs:app?"]),
        ("./deep/jobs.py:app", ["did you mean deep.jobs:app?"]),
        ("../jobs.py:app", ["names a file", "write package.module:variable"]),
    ],
)
def test_an_app_that_cannot_be_loaded(nowhere: Shell, reference: str, words: list[str]) -> None:
    (nowhere.folder / "needs_more.py").write_text("import no_such_library\n")
    (nowhere.folder / "raises.py").write_text("\n1 / 0\n")
    (nowhere.folder / "misspelt.py").write_text("def (\n")
    (nowhere.folder / "twice.py").write_text(
        "from howdah import Howdah\napp = Howdah()\n@app.job()\ndef a(): ...\n@app.job(name='a')\ndef b(): ...\n"
    )
    (nowhere.folder / "library.py").write_text("import json\njson.loads('{')\n")
    nowhere("worker", reference, script=True).must_be_refused(*words)


def test_url_and_schema_beside_an_app(nowhere: Shell, database: Database) -> None:
    (nowhere.folder / "fixed.py").write_text(
        "from howdah import Howdah\napp = Howdah('postgresql://elsewhere/x')\n@app.job()\ndef a(): ...\n"
    )
    nowhere("enqueue", "fixed:app", "a", "--url", database.url).must_work()
    with database.connect() as sql:
        assert sql.execute("SELECT job_type FROM jobs").fetchall() == [("a",)]
    nowhere("enqueue", "jobs:app", "broken", "--url", database.url, "--schema", "x").must_be_refused(
        'no Howdah tables in schema "x"'
    )
    nowhere("enqueue", "jobs:app", "broken", "--url", database.url, "--schema", "howdah").must_work()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--queue", "emails=many"], ["'many' is no number"]),
        (["--queue", "emails=0"], ["'emails'", "1 to 100000"]),
        (["--queue", "=3"], ["queue"]),
        (["--type", "nonesuch"], ["no job type 'nonesuch'"]),
        (["--concurrency", "0"], ["concurrency"]),
        (["--concurrency", "x"], ["--concurrency"]),
        (["--silence", "0s"], ["silence"]),
        (["--poll", "often"], ["'often' is no duration"]),
        (["--name", "x" * 101], ["name", "101 characters"]),
        (["--log-format", "xml"], ["--log-format"]),
        (["--processes", "0"], ["--processes '0'", "1 to 1000, or auto"]),
        (["--processes", "2.5"], ["--processes '2.5'"]),
        (["--processes", "-1"], ["--processes '-1'"]),
        (["--processes", "all"], ["--processes 'all'"]),
        (["--processes", "9", "--name", "x" * 79], ["name", "81 characters"]),
        (["--processes", "3", "--type", "nonesuch"], ["no job type 'nonesuch'"]),
        (["--ready-file", "nowhere/ready"], ["--ready-file", "nowhere/ready"]),
    ],
    ids=lambda value: " ".join(value)[:30],
)
def test_worker_options(nowhere: Shell, options: list[str], words: list[str]) -> None:
    # No database at all: such a mistake is told before one is looked for.
    nowhere.environment["HOWDAH_URL"] = "postgresql://x@127.0.0.1:1/x"
    nowhere("worker", "jobs:app", *options).must_be_refused(*words)


@pytest.mark.parametrize("processes", [1, 3])
def test_tables_that_are_missing_are_told_once(howdah: Shell, processes: int) -> None:
    answer = howdah("worker", "jobs:app", "--schema", "x", "--processes", processes)
    answer.must_be_refused('no Howdah tables in schema "x"')


@pytest.mark.parametrize("processes", [1, 3])
def test_an_app_without_jobs(nowhere: Shell, processes: int) -> None:
    (nowhere.folder / "empty.py").write_text(
        "from howdah import Howdah\napp = Howdah('postgresql://x@127.0.0.1:1/x')\n"
    )
    nowhere("worker", "empty:app", "--processes", processes).must_be_refused("registers no job types")
