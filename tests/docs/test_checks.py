"""The checks of the documentation can fail: each is shown what it is there to find."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from howdah.cli.db import find_psql
from tests.conftest import Database
from tests.docs.pages import anchors, broken_links, console_commands, inline_commands, read_blocks
from tests.docs.running import fits, run_python, run_sql, write_files
from tests.docs.test_docs import check_command


def page_of(folder: Path, text: str) -> Path:
    page = folder / "page.md"
    page.write_text(text)
    return page


@pytest.mark.parametrize(
    ("code", "error", "said"),
    [
        ("1 + 1  # → 3", AssertionError, r"page.md:2: the page shows 3, but it is 2"),
        ("'a b c'  # → 'a … d'", AssertionError, "it is 'a b c'"),
        ("x = 1  # → 1", AssertionError, "no expression"),
        ("await nothing()", NameError, "nothing"),
        ("1 / 0", ZeroDivisionError, "division"),
    ],
)
def test_python_that_does_not_do_what_the_page_shows(
    tmp_path: Path, code: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        run_python(read_blocks(page_of(tmp_path, f"```python\n{code}\n```\n")))


def test_python_that_does(tmp_path: Path) -> None:
    first, second = "import asyncio\nx = 1", "await asyncio.sleep(0, x)  # → 1\n'abc'  # → 'a…'"
    text = f"```python\n{first}\n```\nand\n```python\n{second}\n```\n"
    assert run_python(read_blocks(page_of(tmp_path, text))) == 2


def test_files_are_put_together_from_their_blocks(tmp_path: Path) -> None:
    text = "```python jobs.py\nx = 1\n```\n```python\nx\n```\n```python jobs.py\ny = 2\n```\n"
    (path,) = write_files(read_blocks(page_of(tmp_path, text)), tmp_path)
    assert path.read_text().split() == ["x", "=", "1", "y", "=", "2"]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SELECT 1;\n-- → 2", "page.md:3: the page shows .'2'., but it is .'1'."),
        ("SELECT 1 UNION SELECT 2;\n-- → 1", "but it is"),
        ("SELECT 1;\n-- → (nothing)", "but it is"),
        ("SELECT 1 WHERE false;\n-- → 1", "but it is"),
        ("SELECT nothing;", "nothing"),
        ("SELECT 1;\nSELECT NULL;\n-- → 1", "null"),
    ],
)
def test_sql_that_does_not_do_what_the_page_shows(
    tmp_path: Path, database: Database, statement: str, said: str
) -> None:
    blocks = read_blocks(page_of(tmp_path, f"```sql\n{statement}\n```\n"))
    with pytest.raises(AssertionError, match=said):
        run_sql(blocks, find_psql(), database.direct_url)


def test_sql_that_does(tmp_path: Path, database: Database) -> None:
    first = "SELECT 1 AS one \\gset\nSELECT :one,\n  NULL;\n-- → 1 | null"
    text = f"```sql\n{first}\n```\nand\n```sql\nSELECT :one WHERE false;\n-- → (nothing)\n```\n"
    assert run_sql(read_blocks(page_of(tmp_path, text)), find_psql(), database.direct_url) == 2


def test_broken_links_are_found(tmp_path: Path) -> None:
    text = (
        "# A `heading`, twice\n## A heading, twice\n[one](#a-heading-twice) [two](#a-heading-twice-1) [no](#none)\n"
        "[no](none.md) [self](page.md#none) `[code](none.md)` [far](https://example.com/none)\n```text\n[x](none.md)\n```\n"
    )
    page = page_of(tmp_path, text)
    assert anchors(page) == {"a-heading-twice", "a-heading-twice-1"}
    assert broken_links(page) == [
        "page.md:3: page.md has no heading #none",
        "page.md:4: there is no none.md",
        "page.md:4: page.md has no heading #none",
    ]


@pytest.mark.parametrize(
    "line",
    ["nonsense", "ls --nonsense", "db nonsense", "ls --limit many", "worker", "enqueue a:b c --delay soon", "show 1"],
)
def test_commands_that_do_not_exist_are_found(line: str) -> None:
    with pytest.raises(click.UsageError):
        check_command(line.split(), complete=True)


def test_commands_are_found_where_they_stand(tmp_path: Path) -> None:
    page = page_of(
        tmp_path, "`howdah ls`\n```console\n$ howdah show 'a b'  # why\nhowdah no\n```\n`howdah.x` `no howdah`\n"
    )
    assert list(inline_commands(page)) == [("page.md:1", ["ls"])]
    assert list(console_commands(page)) == [("page.md:3", ["show", "a b"])]


def test_what_is_shown_may_leave_out() -> None:
    assert fits("a…z", "abcz")
    assert fits("…", "")
    assert not fits("a…z", "abc")
    assert not fits("a.c", "abc")
