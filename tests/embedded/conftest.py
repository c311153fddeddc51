"""Folders that the server's account can reach, and a look afterwards that nothing was left running."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from howdah.embedded.binaries import Binaries, all_binaries
from howdah.embedded.layout import read_layout
from howdah.embedded.server import DURABLE, EmbeddedServer, ServerSettings
from tests.embedded.processes import processes_naming, wait_until
from tests.programs import require


class Embed(Protocol):
    def __call__(
        self, folder: Path, *, binaries: Binaries | None = None, settings: ServerSettings = DURABLE
    ) -> EmbeddedServer: ...


@pytest.fixture
def place() -> Iterator[Path]:
    """A short path that every account may enter, unlike pytest's own temporary folders."""
    require(all_binaries(), "PostgreSQL programs")
    made = Path(tempfile.mkdtemp(prefix="howdah-test-", dir="/var/tmp"))
    made.chmod(0o755)
    yield made
    clear(made)


@pytest.fixture
def embed(place: Path) -> Iterator[Embed]:
    """Makes servers whose place as a user is given up after the test."""
    made: list[EmbeddedServer] = []

    def make(folder: Path, *, binaries: Binaries | None = None, settings: ServerSettings = DURABLE) -> EmbeddedServer:
        made.append(EmbeddedServer(folder, binaries=binaries, settings=settings))
        return made[-1]

    yield make
    for server in made:
        server.release()


@pytest.fixture
def folder(place: Path) -> Path:
    return place / ".howdah"


def clear(place: Path) -> None:
    """Stop every server below, see that they and their keepers are gone, remove what they made."""
    for lock in list(place.rglob("server.lock")):
        EmbeddedServer(lock.parent).stop()
    wait_until(lambda: not processes_naming(str(place)), f"nothing of {place} running")
    for lock in list(place.rglob("server.lock")):
        layout = read_layout(lock.parent)
        for made in (layout.home, layout.socket_dir):
            shutil.rmtree(made, ignore_errors=True)
    shutil.rmtree(place)
