"""The dashboard inside applications of FastAPI, Starlette and Django, each served by uvicorn in a process of its own:
their own pages work beside it, its links stay below its prefix, forms change jobs, and pages are live."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.conftest import Database
from tests.dashboard.hosts.queue import OPERATOR
from tests.dashboard.visiting import Page

ROOT = Path(__file__).parents[2]
#: The host, and where its dashboard is.
HOSTS = [("fastapi_host", "/jobs"), ("starlette_host", "/staff/jobs"), ("django_host", "/jobs")]


@contextmanager
def served(host: str, database: Database) -> Iterator[httpx2.Client]:
    """The host's application behind uvicorn, on a socket that was open before it began: nothing to wait for."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.set_inheritable(True)
        command = [
            sys.executable,
            "-m",
            "uvicorn",
            f"tests.dashboard.hosts.{host}:web",
            "--fd",
            str(listening.fileno()),
        ]
        process = subprocess.Popen(
            [*command, "--timeout-graceful-shutdown", "2"],
            cwd=ROOT,
            env={**os.environ, "HOWDAH_URL": database.url},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            pass_fds=[listening.fileno()],
        )
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    said = ""
    try:
        with httpx2.Client(base_url=address, timeout=60, headers={"authorization": OPERATOR}) as client:
            yield client
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=60)[0]
    finally:
        process.kill()
        said += process.communicate()[0]
    assert "Traceback" not in said, said
    assert "ERROR" not in said, said


@pytest.mark.parametrize(("host", "prefix"), HOSTS)
def test_it_lives_in_the_host(host: str, prefix: str, database: Database) -> None:
    with served(host, database) as client:
        job = client.post("/videos", params={"name": "holiday"}).json()["job"]
        check_pages(client, prefix, job)
        check_live(client, f"{prefix}/live?jobs={job}&after=0")
        change = f"{prefix}/jobs/{job}/cancel"
        form = {"csrf": client.cookies["howdah_csrf"]}
        assert client.post(change, data=form, headers={"sec-fetch-site": "cross-site"}).status_code == 403
        answer = client.post(change, data=form, headers={"sec-fetch-site": "same-origin"})
        assert answer.status_code == 303
        assert answer.headers["location"].startswith(f"{prefix}/")
        assert client.get(f"{prefix}/jobs/{job}.json").json()["status"] == "cancelled"


def check_pages(client: httpx2.Client, prefix: str, job: str) -> None:
    """Every page is there for the host's users and for nobody else, and leads nowhere but below the prefix."""
    found = {f"{prefix}/", f"{prefix}/jobs/{job}"}
    seen: set[str] = set()
    while found - seen:
        path = min(found - seen)
        seen.add(path)
        answer = client.get(path)
        assert answer.status_code == 200, (path, answer.text[:500])
        stranger = client.get(path, headers={"authorization": ""})
        assert stranger.status_code == (200 if "/static/" in path else 403), path
        if answer.headers["content-type"].startswith("text/html"):
            found |= {re.split(r"[?#]", link)[0] for link in links(answer.text)}
    assert {f"{prefix}/{page}" for page in ("", "jobs", "queues", "workers", "bulk", "audit")} <= seen
    assert any("/static/" in path for path in seen), "scripts and styles are fetched from below the prefix, too"
    assert all(path.startswith(f"{prefix}/") for path in seen), seen


def links(html: str) -> set[str]:
    """Where a page leads, and what it loads."""
    tags = Page(html).tags
    found = {str(attrs[name]) for _, attrs in tags for name in ("href", "src", "action") if attrs.get(name)}
    posts = {str(attrs["action"]) for tag, attrs in tags if tag == "form" and attrs.get("method") == "post"}
    return {link for link in found - posts if link.startswith("/")}


def check_live(client: httpx2.Client, address: str) -> None:
    """Events come while the stream is open: nothing in between keeps them until the end."""
    with client.stream("GET", address) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = stream.iter_lines()
        assert next(line for line in lines if line.startswith("event: job"))
        assert '"pending"' in next(lines)
