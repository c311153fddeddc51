"""`howdah up` with real processes: code that changes, code that is broken, signals and sudden death."""

from __future__ import annotations

import os
import re
import signal
import socket
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from howdah.embedded.server import EmbeddedServer
from tests.conftest import Database
from tests.rig.supervisors import is_gone
from tests.rig.ups import UpProcess, project
from tests.rig.waiting import until

Start = Callable[..., UpProcess]


@pytest.fixture
def code(tmp_path: Path) -> Path:
    return project(tmp_path)


@pytest.fixture
def start(tmp_path: Path, code: Path, database: Database) -> Iterator[Start]:
    started: list[UpProcess] = []

    def begin(*options: str, url: str | None = database.url, app: str = "shop.jobs:app") -> UpProcess:
        started.append(UpProcess(tmp_path, url, *options, app=app))
        return started[-1]

    yield begin
    for one in started:
        one.kill()


def result_of(sql: psycopg.Connection[Any], job_type: str, **data: str) -> Any:
    job_id = enqueue(sql, job_type, **data)
    found = until(lambda: ended(sql, job_id), f"{job_type} has ended")
    assert found is not None
    return found[0]


def enqueue(sql: psycopg.Connection[Any], job_type: str, **data: str) -> Any:
    row = sql.execute("SELECT enqueue_job(%s, %s)", (job_type, psycopg.types.json.Jsonb(data))).fetchone()
    assert row is not None
    return row[0]


def ended(sql: psycopg.Connection[Any], job_id: Any) -> tuple[Any, int] | None:
    found = sql.execute(
        "SELECT result, attempts FROM jobs WHERE id = %s AND status IN ('completed', 'failed')", (job_id,)
    ).fetchone()
    return None if found is None else (found[0], found[1])


def test_code_changes_code_breaks_and_ctrl_c(start: Start, code: Path, sql: psycopg.Connection[Any]) -> None:
    up = start().ready()
    assert result_of(sql, "greet", name="Ada") == "hello Ada"
    good = code.read_text()
    code.write_text(good.replace('"hello"', '"good day"'))
    up.wait_for("the worker runs the new code")
    assert result_of(sql, "greet", name="Ada") == "good day Ada"
    code.write_text(good.replace("return", "retrun"))
    up.wait_for("the new code does not start; the worker before it goes on")
    assert "SyntaxError" in up.log
    assert result_of(sql, "greet", name="Ada") == "good day Ada"
    code.write_text(good)
    up.wait_for("the worker runs the new code", times=2)
    assert result_of(sql, "greet", name="Ada") == "hello Ada"
    assert up.stop(signal.SIGINT) == 0
    assert len(up.workers()) == 3
    assert up.all_gone()
    assert "Traceback" not in up.log
    assert sql.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name ^@ 'howdah'").fetchone() == (0,)


def test_a_job_of_the_old_code_may_finish(
    start: Start, code: Path, sql: psycopg.Connection[Any], tmp_path: Path
) -> None:
    up = start("--grace", "30s").ready()
    job_id = enqueue(sql, "wait_for", path=str(tmp_path / "go"))
    until(lambda: sql.execute("SELECT 1 FROM jobs WHERE status = 'running'").fetchone(), "it runs")
    code.write_text(code.read_text().replace('"hello"', '"good day"'))
    up.wait_for("the worker runs the new code").wait_for("worker stopping")
    assert result_of(sql, "greet", name="Ada") == "good day Ada", "meanwhile"
    (tmp_path / "go").touch()
    assert until(lambda: ended(sql, job_id), "it has ended") == ("hello", 1)


def test_a_new_package_is_noticed(start: Start, code: Path, sql: psycopg.Connection[Any], tmp_path: Path) -> None:
    up = start().ready()
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "__init__.py").write_text('WORD = "first"\n')
    code.write_text(code.read_text().replace('WORD = "hello"', "from words import WORD"))
    until(lambda: result_of(sql, "greet", name="Ada") == "first Ada", "the new package is used")
    times = up.log.count("the worker runs the new code")
    (tmp_path / "words" / "__init__.py").write_text('WORD = "second"\n')
    up.wait_for("the worker runs the new code", times + 1)
    assert result_of(sql, "greet", name="Ada") == "second Ada"


def test_a_worker_that_was_killed_is_replaced(start: Start, sql: psycopg.Connection[Any], tmp_path: Path) -> None:
    up = start().ready()
    job_id = enqueue(sql, "wait_for", path=str(tmp_path / "go"))
    until(lambda: sql.execute("SELECT 1 FROM jobs WHERE status = 'running'").fetchone(), "it runs")
    os.kill(up.workers()[0], signal.SIGKILL)
    up.wait_for("was killed by SIGKILL; starting it again").wait_for("the worker is ready", times=2)
    up.wait_for("its jobs are free again")
    (tmp_path / "go").touch()
    assert until(lambda: ended(sql, job_id), "it has ended") == ("hello", 2)


def test_sudden_death_leaves_no_worker(start: Start, sql: psycopg.Connection[Any]) -> None:
    up = start().ready()
    up.stop(signal.SIGKILL)
    until(up.all_gone, "no worker is left")
    assert "the supervisor is gone" in up.log
    assert up.workers()


def test_one_link_that_opens_the_dashboard(start: Start) -> None:
    up = start().ready()
    links = re.findall(r"http://\S+", up.out)
    assert len(links) == 1
    place = urlsplit(links[0])
    browser = HTTPConnection(place.hostname or "", place.port, timeout=30)
    browser.request("GET", f"{place.path}?{place.query}")
    answer = browser.getresponse()
    cookie = answer.headers["Set-Cookie"].partition(";")[0]
    answer.read()
    assert answer.status == 303
    browser.request("GET", "/", headers={"Cookie": cookie})
    page = browser.getresponse()
    assert page.status == 200
    assert b"Howdah" in page.read()
    browser.close()
    assert up.stop(signal.SIGTERM) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_embedded_server_goes_too(start: Start, tmp_path: Path, number: signal.Signals) -> None:
    up = start(url=None).ready()
    assert "embedded PostgreSQL in ./.howdah" in up.log
    assert "migrated to version" in up.log
    server = EmbeddedServer(tmp_path / ".howdah").status()
    pid = server.pid
    assert pid is not None
    up.stop(number)
    until(lambda: up.all_gone() and is_gone(pid), "neither worker nor server is left")


@pytest.mark.parametrize(
    ("app", "broken", "words"),
    [
        ("shop.jobs:nothing", "", "has no 'nothing'"),
        ("nowhere:app", "", "there is no module 'nowhere'"),
        ("shop.jobs:app", "import nonsense\n", "cannot import shop.jobs: ModuleNotFoundError"),
        ("shop.jobs:app", "print('(\n", "SyntaxError"),
    ],
)
def test_an_app_that_does_not_load_is_refused_before_anything_starts(
    start: Start, code: Path, app: str, broken: str, words: str
) -> None:
    code.write_text(broken + code.read_text())
    up = start(app=app, url=None)
    assert up.process.wait(60) == 2
    assert words in up.log
    assert len(up.log.splitlines()) == 1
    assert not (up.folder / ".howdah").exists()


def test_a_taken_port_and_a_folder_that_is_not_there(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        up = start("--port", str(taken.getsockname()[1]))
        assert up.process.wait(60) == 2
        assert "choose another with --port" in up.log
    up = start("--watch", "nowhere")
    assert up.process.wait(60) == 2
    assert "there is no such file or folder" in up.log
    assert up.workers() == []
