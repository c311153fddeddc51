"""`howdah ui`: where it listens, what it refuses, and the link that it prints."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.conftest import Database


def command(database: Database, *words: str) -> list[str]:
    return [sys.executable, "-m", "howdah", "ui", "--url", database.url, *words]


@contextmanager
def serving(database: Database, folder: Path, *words: str) -> Iterator[str]:
    """The command running; the address that it prints."""
    process = subprocess.Popen(
        command(database, "--port", "0", *words),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"open  (http://\S+)\n", line)
        assert found, line
        yield found[1]
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[0]
        assert process.returncode in (0, 130)
        assert "Traceback" not in said, said
        assert "ERROR" not in said, said
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def fetch(address: str, **headers: str) -> tuple[int, dict[str, str], str]:
    place = urlsplit(address)
    connection = HTTPConnection(str(place.hostname), place.port, timeout=60)
    connection.request("GET", f"{place.path}?{place.query}", headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text


def test_the_link_opens_the_dashboard_under_its_prefix(database: Database, tmp_path: Path) -> None:
    with serving(database, tmp_path, "--prefix", "/jobs") as link:
        assert urlsplit(link).hostname == "127.0.0.1"
        home = link.partition("/login")[0]
        assert fetch(home + "/")[0] == 401
        status, headers, _ = fetch(link)
        assert (status, headers["location"]) == (303, "/jobs/")
        cookie = headers["set-cookie"].partition(";")[0]
        status, _, text = fetch(home + "/", cookie=cookie)
        assert status == 200
        assert 'href="/jobs/queues"' in text
        assert fetch(home.removesuffix("/jobs") + "/queues", cookie=cookie)[0] == 200, "a proxy may take the path away"
        assert fetch(link)[0] == 401, "each link works once"


def test_it_stops_at_once_and_quietly_while_a_page_is_open(database: Database, tmp_path: Path) -> None:
    with serving(database, tmp_path) as link:
        cookie = fetch(link)[1]["set-cookie"].partition(";")[0]
        place = urlsplit(link)
        connection = HTTPConnection(str(place.hostname), place.port, timeout=60)
        connection.request("GET", "/live?panels=tiles", headers={"cookie": cookie})
        stream = connection.getresponse()
        while b"tile-waiting" not in stream.readline():
            pass
    assert stream.read() is not None
    connection.close()


def test_a_check_of_ones_own_lets_others_in(database: Database, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from howdah import User\n"
        "def check(request):\n"
        "    return User('ann') if request.headers.get('x-ann') else None\n"
    )
    with serving(database, tmp_path, "--auth", "mine:check", "--host", "0.0.0.0") as link:
        address = link.replace("0.0.0.0", "127.0.0.1")
        assert fetch(address)[0] == 403
        status, _, text = fetch(address, **{"x-ann": "1"})
        assert status == 200
        assert "viewer" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--host", "0.0.0.0"], "is open to other machines"),
        (["--host", "::"], "is open to other machines"),
        (["--prefix", "jobs"], "must begin with a slash"),
        (["--auth", "nothing"], "write module:function"),
        (["--auth", "no_such_module:x"], "No module named"),
        (["--auth", "json:nothing"], "has no function"),
        (["--port", "70000"], "70000"),
        (["nothing:app"], "there is no module"),
    ],
)
def test_mistakes_are_told_in_one_line(database: Database, tmp_path: Path, words: list[str], said: str) -> None:
    ended = subprocess.run(command(database, *words), cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert said in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_a_port_that_is_taken_is_told(database: Database, tmp_path: Path) -> None:
    with serving(database, tmp_path) as link:
        port = str(urlsplit(link).port)
        ended = subprocess.run(
            command(database, "--port", port), cwd=tmp_path, capture_output=True, text=True, timeout=60
        )
        assert (ended.returncode, "choose another with --port" in ended.stderr) == (2, True)
