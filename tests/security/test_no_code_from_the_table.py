"""Nothing that stands in the table is imported, unpickled or executed: the source has no way to do it but those listed
here with their reasons, and a worker that meets hostile rows does nothing of the kind."""

from __future__ import annotations

import ast
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from howdah import Howdah
from tests.cli.conftest import Shell
from tests.conftest import Database
from tests.rig.waiting import until

SOURCE = Path(__file__).parents[2] / "src" / "howdah"
#: Modules that turn bytes or text into code or objects.
FORBIDDEN_MODULES = {
    *("pickle", "_pickle", "marshal", "shelve", "copyreg", "dill", "cloudpickle", "jsonpickle", "joblib", "yaml"),
    *("runpy", "code", "codeop", "imp", "ctypes", "cffi", "multiprocessing", "xmlrpc"),
}
#: Calls that import, execute or start what they are given. With a constant for an argument they are harmless.
FORBIDDEN_CALLS = {
    *("eval", "exec", "compile", "__import__", "builtins.eval", "builtins.exec", "builtins.compile"),
    *("importlib.import_module", "importlib.__import__", "importlib.util.find_spec", "pkgutil.resolve_name"),
    *("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"),
}
#: Where one of them stands all the same, and why nothing from the table can reach it.
ALLOWED = {
    ("__init__.py", "importlib.import_module"): "names of our own modules, from a constant table",
    ("cli/lazy_group.py", "importlib.import_module"): "names of our own modules, from a constant table",
    ("cli/app_loading.py", "importlib.import_module"): "the app that the user names on the command line",
    ("cli/ui.py", "importlib.import_module"): "the function that decides who may enter, named on the command line",
    ("cli/ui.py", "importlib.util.find_spec"): "packages of an extra, from a constant list",
    ("cli/up.py", "importlib.util.find_spec"): "packages of an extra, from a constant list",
    ("embedded/binaries.py", "importlib.util.find_spec"): "packages with PostgreSQL's programs, from a constant list",
    ("model/worker_settings.py", "pickle"): "only dumps, to refuse at once a function that no child could be given",
    ("worker/child.py", "importlib.import_module"): "where a registered handler's function is defined, from its parent",
    ("worker/child.py", "pickle"): "an error that a handler raised, on its way from the child to its parent",
    ("worker/child.py", "multiprocessing"): "the pipe between a worker and its own child",
    ("worker/process_runner.py", "pickle"): "an error that a handler raised, on its way from the child to its parent",
    ("worker/process_runner.py", "multiprocessing"): "the pipe between a worker and its own child",
}


def suspicious(source: str) -> Iterator[str]:
    """What in this source could turn data into code."""
    tree = ast.parse(source)
    known_as: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                known_as[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
                yield from {alias.name.partition(".")[0]} & FORBIDDEN_MODULES
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                known_as[alias.asname or alias.name] = f"{node.module}.{alias.name}"
            yield from {node.module.partition(".")[0]} & FORBIDDEN_MODULES
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            first, dot, rest = ast.unparse(node.func).partition(".")
            name = known_as.get(first, first) + dot + rest
            constant = bool(node.args) and isinstance(node.args[0], ast.Constant)
            if name in FORBIDDEN_CALLS and not constant:
                yield name
            if any(keyword.arg == "shell" for keyword in node.keywords):
                yield "shell="


def test_the_source_has_no_way_to_turn_data_into_code_but_those_listed() -> None:
    found = {
        (str(path.relative_to(SOURCE)), what)
        for path in sorted(SOURCE.rglob("*.py"))
        for what in suspicious(path.read_text())
    }
    assert found == set(ALLOWED)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import pickle as p\np.loads(x)", ["pickle"]),
        ("from pickle import loads", ["pickle"]),
        ("def f():\n    import marshal", ["marshal"]),
        ("import multiprocessing.connection", ["multiprocessing"]),
        ("eval(job.data)", ["eval"]),
        ("from importlib import import_module as load\nload(job_type)", ["importlib.import_module"]),
        ("import importlib\nimportlib.import_module(job_type)", ["importlib.import_module"]),
        ("import importlib as i\ni.util.find_spec(name)", ["importlib.util.find_spec"]),
        ("__import__(name)", ["__import__"]),
        ("import subprocess\nsubprocess.run(x, shell=True)", ["shell="]),
        ("import importlib\nimportlib.import_module('pydantic')", []),
        ("import re\nre.compile(x)", []),
    ],
)
def test_the_search_finds_what_it_looks_for(source: str, found: list[str]) -> None:
    assert list(suspicious(source)) == found


#: The worker's app. A file called `watching` begins the watch, in this process and in its children; from then on
#: everything that imports, executes, unpickles or starts something is written down.
JOBS = """
import os
import sys
from dataclasses import dataclass
from typing import Any

from howdah import Howdah

WATCHED = {"import", "exec", "compile", "pickle.find_class", "marshal.loads", "marshal.load", "os.system", "os.exec",
    "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "subprocess.Popen", "ctypes.dlopen", "code.__new__"}


def watch(event, arguments):
    if event in WATCHED and os.path.exists("watching"):
        with open("seen", "a") as seen:
            said = [str(part) for part in arguments[: 2 if event == "pickle.find_class" else 1]]
            seen.write(" ".join([event, *said]) + chr(10))


class Watch:
    # import_module raises no audit event before it has found the module: it asks here first.
    def find_spec(self, name, path=None, target=None):
        watch("import", (name,))


sys.addaudithook(watch)
sys.meta_path.insert(0, Watch())
app = Howdah()


@dataclass
class Thing:
    name: str


@app.job(max_attempts=1)
async def take(value: Any) -> Any:
    return value


@app.job(max_attempts=1)
def take_thing(thing: Thing) -> str:
    return thing.name


@app.job(max_attempts=1, process=True)
def take_in_child(value: Any) -> Any:
    return value


@app.job(max_attempts=1)
async def take_all(**values: Any) -> Any:
    return values


@app.job(max_attempts=1)
def read_back(ids: list[str]) -> int:
    return len([app.get(job_id).record for job_id in ids])


@app.job()
def begin_watch() -> None:
    open("watching", "w").close()


@app.job()
def learn() -> None:
    # What the watch is worth: this is what it would see.
    import this_is_nowhere
"""
EVIL = "__import__('os').system('touch pwned')"
PICKLED = "cos\nsystem\n(S'touch pwned'\ntR."
TYPES = [
    *("os:system", "os.system", "jobs:evil", "jobs.take", "jobs:take", "take.__globals__", "__main__", "builtins.eval"),
    *("../jobs", "take;evil", "take ", "Take", "take_thing\x0b", EVIL[:50], "'; DROP TABLE jobs; --", "antigravity"),
]
VALUES: list[Any] = [
    {"__reduce__": ["os.system", ["touch pwned"]]},
    {"__class__": "os.system", "__init__": {"__globals__": {}}, "__dict__": {}, "__proto__": {}},
    {"py/object": "os.system", "py/reduce": [{"py/function": "os.system"}, ["touch pwned"]]},
    {"$type": "System.Diagnostics.Process", "!!python/object/apply:os.system": ["touch pwned"]},
    {"module": "antigravity", "qualname": "fly", "handler": "os:system", "function": "os.system"},
    [EVIL, PICKLED, "gASVIQAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOU", "{{7*7}}", "${jndi:ldap://x}", "$(touch pwned)"],
    EVIL,
]
ALLOWED_GLOBALS = {
    *("howdah.worker.child Task", "uuid UUID", "uuid SafeUUID", "howdah.model.context Report"),
    *("copyreg _reconstructor", "builtins object", "howdah.model.errors ArgumentError"),
}


def hostile_rows() -> Iterator[tuple[str, str]]:
    for value in VALUES:
        text = json.dumps(value)
        for job_type in ("take", "take_in_child"):
            yield job_type, f'{{"value": {text}}}'
        yield "take_thing", f'{{"thing": {text}}}'
        yield "take_all", f'{{"value": {text}, "__class__": {text}, "self": 1, "ctx": 2, "__builtins__": {text}}}'
        yield "take_all", text
    yield "take", f'{{"value": {"[" * 900}{"]" * 900}}}'
    yield "take_thing", json.dumps({"thing": {"name": "x", "__post_init__": PICKLED}})


def insert(sql: psycopg.Connection[Any], rows: list[tuple[str, str]]) -> list[str]:
    query = "INSERT INTO jobs (job_type, data) VALUES (%s, %s) RETURNING id::text"
    return [str(row[0]) for job in rows if (row := sql.execute(query, job).fetchone()) is not None]


def ended(sql: psycopg.Connection[Any], ids: list[str]) -> bool:
    query = "SELECT count(*) FROM jobs WHERE id::text = ANY (%s) AND status IN ('completed', 'failed')"
    return sql.execute(query, (ids,)).fetchone() == (len(ids),)


def test_a_worker_that_meets_hostile_rows_imports_and_unpickles_nothing(
    database: Database, sql: psycopg.Connection[Any], tmp_path: Path
) -> None:
    (tmp_path / "jobs.py").write_text(JOBS)
    (tmp_path / "evil.py").write_text("open('pwned', 'w')")
    hostile = list(hostile_rows())
    with Shell(tmp_path, {"HOWDAH_URL": database.url}).worker("--concurrency", "1", "--poll", "200ms") as worker:
        # Everything once, before the watch begins: what is imported late for honest reasons is imported then.
        warm = insert(sql, hostile)
        until(lambda: ended(sql, warm), "what goes before has ended")
        warm = insert(sql, [("read_back", json.dumps({"ids": warm}))])
        until(lambda: ended(sql, warm), "everything has been read back")
        warm = insert(sql, [("begin_watch", "{}")])
        until(lambda: ended(sql, warm), "the watch has begun")
        strangers = insert(sql, [(job_type, '{"value": 1, "ids": []}') for job_type in TYPES])
        ids = insert(sql, hostile)
        until(lambda: ended(sql, ids), "every hostile job has ended")
        ids += insert(sql, [("read_back", json.dumps({"ids": ids}))])
        until(lambda: ended(sql, ids), "everything has been read back")
        seen = set((tmp_path / "seen").read_text().splitlines()) if (tmp_path / "seen").exists() else set()
        learned = insert(sql, [("learn", "{}")])
        until(lambda: "import this_is_nowhere" in (tmp_path / "seen").read_text(), "the watch sees an import")
        assert worker.signal_and_wait(signal.SIGTERM) == 0
    assert seen - {f"pickle.find_class {name}" for name in ALLOWED_GLOBALS} == set()
    assert "pickle.find_class howdah.worker.child Task" in seen, "children are watched as well"
    assert not (tmp_path / "pwned").exists()
    untouched = "SELECT count(*) FROM jobs WHERE id::text = ANY (%s) AND status = 'pending' AND attempts = 0"
    assert sql.execute(untouched, (strangers,)).fetchone() == (len(TYPES),)
    assert learned
    with_them = Howdah(database.url)
    plain = with_them.get(ids[0]).record
    assert plain.data == {"value": VALUES[0]} == {"value": plain.result}, "it is data, and comes back as it went in"
    with_them.close()
