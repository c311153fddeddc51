"""Every text as an argument of the command line: it works, or it is one line and exit code 2; never a traceback, and
nothing is written by what was refused."""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from howdah import Howdah
from howdah.cli.main import exit_code
from tests.conftest import Database
from tests.corpus import hand_made
from tests.corpus.corpus import json_texts, strings
from tests.corpus.judging import CONTROL, Sql, count, fits, reading

MODULE = "corpus_jobs"
JOBS = """
from typing import Any

from howdah import Howdah

app = Howdah()


@app.job()
async def echo(n: int, it: Any) -> None: ...
"""


def can_be_typed(text: str) -> bool:
    """Whether a command line can hold it: no NUL, and of surrogates only those that stand for a byte."""
    others = any("\ud800" <= c < "\udc80" or "\udcff" < c <= "\udfff" for c in text)
    return "\0" not in text and len(text) < 20_000 and not others


TEXTS = [text for text in (*hand_made.STRINGS, *strings()[-120:]) if can_be_typed(text)]


@dataclass
class Said:
    """What a command answered."""

    code: int
    out: str
    err: str


def run(*arguments: str) -> Said:
    out, err = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, ["howdah", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = exit_code()
    finally:
        sys.argv = before
    return Said(code, out.getvalue(), err.getvalue())


@pytest.fixture(autouse=True)
def _at_home(tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{MODULE}.py").write_text(JOBS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("HOWDAH_URL", database.url)
    monkeypatch.delitem(sys.modules, MODULE, raising=False)


def judge(said: Said, about: object) -> None:
    assert said.code in (0, 1, 2), f"{about!r}: {said}"
    if said.code == 2:
        assert said.err.startswith("howdah: "), f"{about!r}: {said.err!r}"
        assert said.err.count("\n") == 1, f"{about!r}: {said.err!r}"
    assert CONTROL.search(said.err) is None, f"{about!r}: {said.err!r}"
    assert CONTROL.search(said.out) is None, f"{about!r}: {said.out!r}"


COMMANDS: dict[str, Callable[[str], Sequence[str]]] = {
    "command": lambda text: [text],
    "option": lambda text: ["ls", f"--{text}"],
    "app": lambda text: ["enqueue", text, "echo"],
    "variable": lambda text: ["enqueue", f"{MODULE}:{text}", "echo"],
    "type": lambda text: ["enqueue", f"{MODULE}:app", text],
    "arguments": lambda text: ["enqueue", f"{MODULE}:app", "echo", text],
    "queue": lambda text: ["enqueue", f"{MODULE}:app", "echo", '{"n": 1, "it": 2}', "--queue", text],
    "priority": lambda text: ["enqueue", f"{MODULE}:app", "echo", '{"n": 1, "it": 2}', "--priority", text],
    "delay": lambda text: ["enqueue", f"{MODULE}:app", "echo", '{"n": 1, "it": 2}', "--delay", text],
    "run-at": lambda text: ["enqueue", f"{MODULE}:app", "echo", '{"n": 1, "it": 2}', "--run-at", text],
    "show": lambda text: ["show", text],
    "cancel": lambda text: ["cancel", text, text],
    "pause": lambda text: ["pause", "--", text],
    "pause type": lambda text: ["pause", "--type", text],
    "resume": lambda text: ["resume", "--", text],
    "ls queue": lambda text: ["ls", "--queue", text],
    "ls worker": lambda text: ["ls", "--worker", text],
    "ls before": lambda text: ["ls", "--before", text],
    "ls where": lambda text: ["ls", "--where", text],
    "ls data": lambda text: ["ls", "--where", f"data.it={text}"],
    "ls place": lambda text: ["ls", "--where", f"data.{text}"],
    "ls error": lambda text: ["ls", "--error", text],
    "ls since": lambda text: ["ls", "--since", text],
    "ls priority": lambda text: ["ls", "--priority", text],
    "retry where": lambda text: ["retry", "--yes", "--where", text],
    "priority N": lambda text: ["priority", "--", text, str(UUID(int=1))],
    "move": lambda text: ["move", "--", text, str(UUID(int=1))],
    "audit": lambda text: ["audit", "--who", text],
    "operations": lambda text: ["operations", "show", text],
    "why": lambda text: ["why", text],
    "schema": lambda text: ["ls", "--schema", text],
}


@pytest.mark.parametrize("place", COMMANDS)
def test_any_text_is_an_answer_or_one_line(database: Database, place: str) -> None:
    # A command that looks up an app, or talks to the database, takes a hundred times as long as one that does not.
    texts = TEXTS if place in ("command", "option", "show", "cancel", "ls before") else TEXTS[::7]
    if place == "arguments":
        texts = [text for text in texts if text != "-"]  # which reads stdin
    if place in ("command", "app"):
        # Names of commands and modules do what they say.
        texts = [text for text in texts if text not in ("", "-", "--") and not text.isidentifier()]
    with reading(database) as sql:
        for text in texts:
            before = count(sql)
            said = run(*COMMANDS[place](text))
            judge(said, text)
            assert count(sql) - before == (1 if said.code == 0 and COMMANDS[place](text)[0] == "enqueue" else 0)


def test_json_arguments_are_kept_or_refused(database: Database) -> None:
    kept = 0
    texts = [text for text in json_texts() if "\0" not in text and len(text) < 100_000 and text != "-"]
    with reading(database) as sql:
        for text in texts[:150]:
            said = run("enqueue", f"{MODULE}:app", "echo", "--", text)
            judge(said, text)
            kept += said.code == 0
        assert count(sql) == kept > 5
        listed = run("ls", "--limit", "1000")
        judge(listed, "ls")
        for job_id in _ids(sql):
            judge(run("show", job_id), "show")


def test_odd_jobs_are_shown_without_a_raw_control_character(database: Database) -> None:
    with reading(database) as sql:
        for text in hand_made.STRINGS:
            if fits(text, 1, 50):
                sql.execute(
                    "INSERT INTO jobs (job_type, queue, current_stage, worker_id, last_error, data, status,"
                    " completed_at) VALUES (%s, %s, %s, %s, %s, to_jsonb(%s::text), 'failed', 'infinity')",
                    [text] * 6,
                )
        for command in (
            ["ls", "--limit", "1000"],
            ["ls", "--limit", "1000", "--json"],
            ["queues"],
            ["queues", "--json"],
            ["stats"],
            ["export"],
            ["audit"],
        ):
            said = run(*command)
            judge(said, command)
            assert said.code == 0
        for job_id in _ids(sql)[::5]:
            judge(run("show", job_id), "show")
            judge(run("show", job_id, "--json"), "show --json")
            judge(run("why", job_id), "why")


def test_json_that_only_the_database_can_read_is_shown(app: Howdah, database: Database) -> None:
    with reading(database) as sql:
        for text in hand_made.JSON_TEXTS:
            with contextlib.suppress(psycopg.DataError, psycopg.errors.StatementTooComplex):
                sql.execute("INSERT INTO jobs (job_type, data) VALUES ('a', %s::text::jsonb)", (text,))
        ids = _ids(sql)
        assert len(ids) > 30
        for job_id in ids:
            assert app.get(job_id).record.status == "pending"
            for command in (["show", job_id], ["show", job_id, "--json"]):
                said = run(*command)
                judge(said, command)
                assert said.code == 0


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles", "UTC"])
def test_the_end_of_time_is_shown_in_every_zone(database: Database, monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    with reading(database) as sql:
        for moment in ("infinity", "-infinity", "9999-12-31 23:00Z", "0001-01-01 01:00Z", "200000-01-01"):
            sql.execute("INSERT INTO jobs (job_type, run_at, created_at) VALUES ('a', %s, %s)", (moment, moment))
        for job_id in _ids(sql):
            for command in (["show", job_id], ["show", job_id, "--json"], ["ls"], ["ls", "--json"], ["why", job_id]):
                assert run(*command).code == 0
        for command in (["stats"], ["queues"], ["export"], ["ls", "--since", "1h"], ["ls", "--until", "0001-01-02"]):
            assert run(*command).code == 0
    monkeypatch.undo()
    time.tzset()


def _ids(sql: Sql) -> list[str]:
    return [str(row[0]) for row in sql.execute("SELECT id FROM jobs").fetchall()]
