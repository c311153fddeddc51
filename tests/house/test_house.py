"""Rules of the house that no linter knows."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from howdah.db.catalog import Catalog

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "howdah"
QUERIES = SOURCE / "sql" / "queries"
FILE_LIMIT, TEST_FILE_LIMIT, FUNCTION_LIMIT, ARGUMENT_LIMIT = 350, 500, 50, 7
FORBIDDEN_NAMES = {"utils", "helpers", "common", "misc", "base", "manager"}


def python_files(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


@pytest.mark.parametrize("folder", ["src", "tests"])
def test_no_file_is_too_long(folder: str) -> None:
    limit = FILE_LIMIT if folder == "src" else TEST_FILE_LIMIT
    files = [*python_files(folder), *(ROOT / folder).rglob("*.sql")]
    too_long = {str(path.relative_to(ROOT)): n for path in files if (n := len(path.read_text().splitlines())) > limit}
    assert too_long == {}
    assert len(files) > 10


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def is_command(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Click hands every option to its command by name, so a command has as many arguments as options."""
    return any(
        "command" in ast.unparse(decorator) or "click." in ast.unparse(decorator) for decorator in node.decorator_list
    )


def test_no_function_is_too_long_or_takes_too_much() -> None:
    found = []
    for path in python_files("src"):
        for node in functions(path):
            where = f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
            if (node.end_lineno or 0) - node.lineno + 1 > FUNCTION_LIMIT:
                found.append(f"{where} is longer than {FUNCTION_LIMIT} lines")
            required = len(node.args.args) + len(node.args.posonlyargs) - ("self" in [a.arg for a in node.args.args])
            if required > ARGUMENT_LIMIT and not is_command(node):
                found.append(f"{where} takes {required} arguments by position")
    assert found == []


def test_no_file_is_called_nothing_in_particular() -> None:
    assert [str(path) for path in python_files("src", "tests") if path.stem in FORBIDDEN_NAMES] == []


def test_every_module_and_public_function_says_what_it_is() -> None:
    silent = []
    for path in python_files("src"):
        tree = ast.parse(path.read_text())
        if not ast.get_docstring(tree):
            silent.append(str(path.relative_to(ROOT)))
    assert silent == []


def statements_named_in(path: Path) -> set[str]:
    text = path.read_text()
    return set(re.findall(r"""(?:Statement|text|_say|Query|statement)\(\s*["']([a-z_]+/[a-z_]+)["']""", text))


def test_every_statement_has_its_file_and_every_file_its_caller() -> None:
    named = set()
    for path in python_files("src"):
        named |= statements_named_in(path)
        named |= {
            word
            for word in re.findall(r"""["']([a-z_]+/[a-z_]+)["']""", path.read_text())
            if (QUERIES / f"{word}.sql").exists()
        }
    files = {str(path.relative_to(QUERIES).with_suffix("")) for path in QUERIES.rglob("*.sql")}
    assert named >= files, f"nobody calls {sorted(files - named)}"
    assert files >= {name for name in named if (QUERIES / name.split("/")[0]).is_dir()}


def test_every_query_says_what_it_is_for_and_binds_its_parameters_outside_quotes() -> None:
    for path in QUERIES.rglob("*.sql"):
        text = path.read_text()
        assert text.startswith("-- Purpose:"), path
        for quoted in re.findall(r"'[^']*'", re.sub(r"--.*", "", text)):
            assert "%(" not in quoted, f"{path}: a placeholder inside quotes is never bound: {quoted}"


def test_sql_stands_in_sql_files_only() -> None:
    pattern = re.compile(r"""["'](SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE|ALTER TABLE|COPY) """)
    found = [str(path.relative_to(ROOT)) for path in python_files("src") if pattern.search(path.read_text())]
    assert found == []


def test_migrations_are_numbered_without_gaps() -> None:
    numbers = sorted(int(path.name.split("_")[0]) for path in (SOURCE / "sql" / "migrations").glob("*.sql"))
    assert numbers == list(range(1, len(numbers) + 1))


def test_every_new_migration_says_which_code_it_still_serves() -> None:
    told = {step.version: step.oldest_code for step in Catalog().migrations() if step.version > 15}
    assert told
    for version, oldest in told.items():
        assert oldest is not None, f"migration {version} needs a first line such as -- Oldest code: {version - 1}"
        assert oldest <= version


def test_nothing_names_a_path_of_this_machine_or_a_registry() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode != 0:
        pytest.skip("not a git checkout: there is no list of tracked files")
    hosts = "|".join(["pypi" + r"\.org", "pythonhosted" + r"\.org", "npmjs" + r"\.(org|com)"])
    # A clone right under /tmp or the like shares its folder with every machine.
    around = ROOT if str(ROOT.parent) in {"/", "/tmp", "/opt", "/srv", "/home", "/var/tmp", "/usr/src"} else ROOT.parent
    pattern = re.compile(rf"({re.escape(str(Path.home()))}/|{re.escape(str(around))}/|{hosts})")
    found = []
    for name in tracked.stdout.splitlines():
        path = ROOT / name
        if (
            path.is_file()
            and path.suffix not in {".png", ".svg"}
            and (hit := pattern.search(path.read_text(errors="replace")))
        ):
            found.append(f"{name}: {hit.group()}")
    assert found == []


def test_the_public_names_are_sorted_and_documented() -> None:
    howdah = importlib.import_module("howdah")
    assert list(howdah.__all__) == sorted(howdah.__all__) == sorted(howdah._HOMES)
    assert set(howdah.__all__) <= set(dir(howdah))
    assert not hasattr(howdah, "nonsense")
    for name in howdah.__all__:
        assert inspect.getdoc(getattr(howdah, name)), name


@pytest.mark.parametrize("word", ["make demo", "make test"])
def test_the_readme_shows_the_two_commands_at_its_top(word: str) -> None:
    assert word in "\n".join((ROOT / "README.md").read_text().splitlines()[:40])


def test_all_searches_mean_the_same_by_a_filter() -> None:
    # Twice each, because not everybody may read errors and arguments: what they share must not drift apart.
    def conditions(name: str) -> set[str]:
        found = re.findall(
            r"\((%\(\w+\)s::[\w\[\]]+ IS NULL OR j\.[^\n]*?)\)*(?: AS fits)?$",
            (QUERIES / "admin" / name).read_text(),
            re.M,
        )
        return {line.rstrip(")") for line in found}

    plain = conditions("find_ids.sql")
    assert len(plain) == 12
    assert conditions("match_ids.sql") == plain
    assert conditions("find_ids_deep.sql") == conditions("match_ids_deep.sql") > plain
