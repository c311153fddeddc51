"""What is declared is pinned, what is imported is declared, and an audit that could not be done does not pass."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from audit.__main__ import CLEAN, UNKNOWN, VULNERABLE, judge, pinned

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CORE = [Requirement(text) for text in PROJECT["dependencies"]]
EXTRAS = {name: list(map(Requirement, texts)) for name, texts in PROJECT["optional-dependencies"].items()}
PINS = {
    canonicalize_name(line.partition("==")[0]): line.partition("==")[2].strip()
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if line and not line.startswith("#")
}
#: Ours; and pip, which is there before anything is installed.
UNPINNED = {"howdah", "pip"}
#: Installed into an environment of their own (benchmarks/install.py).
PEERS = ROOT / "benchmarks"

#: Files, and whole rooms.
NEED_AN_EXTRA = {"demo/live_view.py", "cli/code_watch.py", "cli/watch_bars.py", "web", "top"}


def listed_in(name: str) -> list[Requirement]:
    lines = (ROOT / name).read_text().splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def names(requirements: list[Requirement]) -> set[str]:
    return {canonicalize_name(requirement.name) for requirement in requirements}


DEVELOPMENT = [*listed_in("requirements-dev.txt"), *listed_in("requirements-audit.txt")]
DIRECT = [*CORE, *(one for extra in EXTRAS.values() for one in extra), *DEVELOPMENT]


def test_every_direct_dependency_is_pinned_within_its_range() -> None:
    for requirement in DIRECT:
        name = canonicalize_name(requirement.name)
        if name not in UNPINNED:
            assert name in PINS, f"constraints.txt does not pin {name}"
            assert requirement.specifier.contains(PINS[name], prereleases=True), f"{requirement} and =={PINS[name]}"
    assert len(PINS) == pinned((ROOT / "constraints.txt").read_text()) > 40
    assert all(SpecifierSet(f"=={version}") for version in PINS.values()), "exact versions and nothing else"


def test_every_indirect_dependency_is_pinned_too() -> None:
    seen: set[str] = set()
    waiting = [(canonicalize_name(one.name), frozenset(one.extras)) for one in DIRECT]
    while waiting:
        name, extras = waiting.pop()
        if name in seen and not extras:
            continue
        seen.add(name)
        try:
            needed = map(Requirement, requires(name) or [])
        except PackageNotFoundError:
            continue  # for other systems, or for `make audit` only
        for one in needed:
            if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in (extras or {""})):
                waiting.append((canonicalize_name(one.name), frozenset(one.extras)))
    assert seen - PINS.keys() - UNPINNED == set()
    assert {"psycopg-binary", "cffi", "typing-extensions"} <= seen


def test_all_is_all_extras() -> None:
    assert set(EXTRAS["all"][0].extras) == EXTRAS.keys() - {"all"}


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Top-level names of what a file imports, and whether at its top, where it is needed to import the file at all."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        found = []
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found = [node.module]
        yield from ((name.partition(".")[0], node in tree.body) for name in found)


MODULES = packages_distributions()


def distributions_of(module: str) -> set[str]:
    return {str(canonicalize_name(name)) for name in MODULES.get(module, ())} or {module}


def third_party(folder: str) -> Iterator[tuple[Path, set[str], bool]]:
    ours = {"howdah", "tests", "torture", "museum", "benchmarks", "audit", "evidence", "conftest", "jobs"}
    for path in sorted((ROOT / folder).rglob("*.py")):
        for module, at_the_top in imports(path):
            if module not in sys.stdlib_module_names and module not in ours:
                yield path, distributions_of(module), at_the_top


def test_the_package_imports_nothing_undeclared() -> None:
    declared = names(CORE) | {name for extra in EXTRAS.values() for name in names(extra)}
    used: set[str] = set()
    need_an_extra = set()
    for path, found, at_the_top in third_party("src"):
        used |= found
        assert found & declared, f"{path.relative_to(ROOT)} imports {found}, which pyproject.toml does not declare"
        if at_the_top and not found & names(CORE):
            place = path.relative_to(ROOT / "src" / "howdah")
            need_an_extra.add(place.parts[0] if place.parts[0] in NEED_AN_EXTRA else str(place))
    # Only imported by a file that has looked whether the extra is there.
    assert need_an_extra == NEED_AN_EXTRA
    assert used >= names(CORE), f"declared and never imported: {names(CORE) - used}"


@pytest.mark.parametrize("folder", ["tests", "torture", "museum", "audit", "evidence"])
def test_what_develops_it_imports_nothing_undeclared(folder: str) -> None:
    declared = names(DIRECT) | {"packaging"}  # which pytest brings
    undeclared = {
        f"{path.relative_to(ROOT)}: {sorted(found)}" for path, found, _ in third_party(folder) if not found & declared
    }
    assert undeclared == set()


def test_the_search_sees_an_undeclared_import(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(
        "import requests.sessions\nfrom os import path\ndef f():\n    import numpy as np\n"
    )
    assert list(imports(tmp_path / "one.py")) == [("requests", True), ("os", True), ("numpy", False)]


GOOD = {"name": "one", "version": "1", "vulns": []}
SKIPPED = {"name": "two", "skip_reason": "cannot be asked"}
BAD = {"name": "three", "version": "3", "vulns": [{"id": "CVE-1", "fix_versions": ["4"]}]}


@pytest.mark.parametrize(
    ("packages", "code", "said"),
    [
        ([GOOD, GOOD], CLEAN, "no known vulnerability in 2 packages"),
        ([GOOD, SKIPPED], UNKNOWN, "NOT DONE: only 1 of 2 packages could be asked about: cannot be asked"),
        ([GOOD], UNKNOWN, "NOT DONE: only 1 of 2"),
        ([], UNKNOWN, "NOT DONE: only 0 of 2"),
        ([GOOD, BAD], VULNERABLE, "three 3: CVE-1, fixed in 4"),
        ([SKIPPED, BAD], VULNERABLE, "three 3: CVE-1"),
    ],
)
def test_an_audit_passes_only_if_it_could_ask_about_everything(packages: list[object], code: int, said: str) -> None:
    got, lines = judge(json.dumps({"dependencies": packages}), "", 2)
    assert got == code
    assert said in "\n".join(lines)


def test_an_audit_that_failed_does_not_pass() -> None:
    assert judge("", "Traceback\nConnectionError: nobody answers\n", 2) == (
        UNKNOWN,
        ["audit: NOT DONE: pip-audit failed: ConnectionError: nobody answers"],
    )
    assert judge("{}", "", 2)[0] == UNKNOWN
    # Without the tool: the whole command, as make runs it.
    program = "import sys, runpy; sys.executable = '/bin/false'; runpy.run_module('audit', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == UNKNOWN
    assert re.match(r"audit: NOT DONE", done.stdout)
