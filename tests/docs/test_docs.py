"""The documentation does what it says: its code runs, its results come out, its links and commands exist."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import click
import psycopg
import pytest

from howdah import WorkerSettings
from howdah.cli.db import find_psql
from howdah.cli.main import main
from tests.conftest import Database
from tests.docs.pages import (
    ROOT,
    Block,
    all_pages,
    broken_links,
    console_commands,
    inline_commands,
    read_blocks,
)
from tests.docs.running import page_worker, run_python, run_sql, write_files

README, GUIDE, SQL, GLOSSARY = ROOT / "README.md", *(ROOT / "docs" / f"{n}.md" for n in ("guide", "sql", "glossary"))
PYTHON_PAGES = [README, GUIDE]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def python_blocks(page: Path) -> list[Block]:
    return [block for block in read_blocks(page) if block.language == "python"]


@pytest.mark.parametrize("page", PYTHON_PAGES, ids=name_of)
def test_every_python_block_runs_and_shows_what_comes_out(
    page: Path, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOWDAH_URL", database.url)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    # Each page has a jobs.py of its own; monkeypatch takes this one out again.
    monkeypatch.setitem(sys.modules, "jobs", ModuleType("jobs"))
    del sys.modules["jobs"]
    write_files(read_blocks(page), tmp_path)
    with page_worker(tmp_path):
        compared = run_python([block for block in python_blocks(page) if not block.mark])
    assert compared >= 5


def test_the_example_of_a_test_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOWDAH_URL", raising=False)
    write_files(read_blocks(GUIDE), tmp_path)
    # `howdah` is found as in an environment that was activated.
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_jobs.py"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert "1 passed" in ended.stdout, ended.stdout + ended.stderr


@pytest.mark.parametrize("page", PYTHON_PAGES, ids=name_of)
def test_every_python_block_compiles_and_is_marked_with_a_known_word(page: Path) -> None:
    blocks = python_blocks(page)
    assert blocks
    for block in blocks:
        assert block.mark in ("", "no-run") or re.fullmatch(r"[a-z_]+\.py", block.mark), f"{block.place}: {block.mark}"
        compile(block.text, block.place, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    assert {block.language for block in read_blocks(page)} <= {"python", "console", "sql", "text", "toml"}


def test_every_sql_block_runs_and_shows_what_comes_out(database: Database) -> None:
    blocks = [block for block in read_blocks(SQL) if block.language == "sql"]
    assert [block.place for block in blocks if block.mark] == []
    assert run_sql(blocks, find_psql(), database.direct_url) >= 20


SURFACE = (
    *("enqueue_job", "claim_job_batch", "start_job", "heartbeat", "report_progress", "record_event", "complete_job"),
    *("fail_job", "release_job", "cancel_job", "retry_job", "recover_stale_jobs", "pause", "resume", "register_worker"),
    *("get_job", "get_status", "list_events"),
)
SHORT_TYPES = {"character varying": "varchar", "timestamp with time zone": "timestamptz", "integer": "int"}


@pytest.mark.parametrize("name", SURFACE)
def test_the_sql_page_shows_the_function_as_it_is(sql: psycopg.Connection[tuple[str, str]], name: str) -> None:
    row = sql.execute(
        "SELECT pg_get_function_arguments(oid), pg_get_function_result(oid) FROM pg_proc "
        "WHERE proname = %s AND pronamespace = 'howdah'::regnamespace",
        (name,),
    ).fetchone()
    assert row is not None
    arguments, result = row
    for long, short in SHORT_TYPES.items():
        arguments, result = arguments.replace(long, short), result.replace(long, short)
    arguments = (
        re.sub(r"::[a-z]+(\[\])?", "", arguments).replace(" DEFAULT ", " = ").replace("'00:05:00'", "'5 minutes'")
    )
    headings = re.findall(rf"^### `({name}\(.*)`$", SQL.read_text(), re.MULTILINE)
    assert headings == [f"{name}({arguments}) → {result}"]


def test_the_statements_of_the_other_language_are_statements(sql: psycopg.Connection[tuple[str]]) -> None:
    (block,) = [block for block in read_blocks(SQL) if block.language == "go"]
    statements = re.findall(r"[`\"]((?:SELECT|INSERT|UPDATE|DELETE)\b[^`\"]*)[`\"]", block.text)
    assert len(statements) >= 5
    for number, statement in enumerate(statements):
        sql.execute(f"PREPARE doc_{number} AS {statement}".encode())


@pytest.mark.parametrize("page", all_pages(), ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    assert broken_links(page) == []


def check_command(words: list[str], *, complete: bool) -> None:
    """Raise click's own error if there is no such command or option, or, for a complete line, if a value is wrong."""
    command: click.Command = main
    context = click.Context(main, info_name="howdah")
    words = list(words)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name = words.pop(0)
        found = command.get_command(context, name)
        if found is None:
            raise click.UsageError(f"No such command {name!r}.")
        command, context = found, click.Context(found, parent=context, info_name=name)
    if words != ["--help"]:
        command.make_context(command.name, words, parent=context.parent, resilient_parsing=not complete)


COMMANDS = [
    *((where, words, True) for page in (README, GUIDE, SQL) for where, words in console_commands(page)),
    *((where, words, False) for page in (README, GUIDE, SQL, GLOSSARY) for where, words in inline_commands(page)),
]


@pytest.mark.parametrize(("where", "words", "complete"), COMMANDS, ids=[c[0] for c in COMMANDS])
def test_every_command_line_exists(where: str, words: list[str], complete: bool) -> None:
    check_command(words, complete=complete)


def test_the_readme_has_command_lines_to_check() -> None:
    assert len(list(console_commands(README))) >= 5
    assert len(list(inline_commands(README))) >= 3


def test_every_word_of_the_glossary_is_explained_once() -> None:
    words = re.findall(r"^\*\*(.+?)\*\*", GLOSSARY.read_text(), re.MULTILINE)
    assert len(words) >= 25
    assert words == sorted(set(words), key=str.lower)


def test_the_guide_lists_the_settings_of_a_worker_as_they_are() -> None:
    table = (ROOT / "docs" / "guide.md").read_text().split("| setting | default | |")[1].split("\n\n")[0]
    assert sorted(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == sorted(WorkerSettings.__dataclass_fields__)
