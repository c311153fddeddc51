"""A PostgreSQL server of the demo's own, in a temporary folder that is removed afterwards."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from howdah.db.catalog import Catalog
from howdah.db.connecting import connect
from howdah.db.migrator import migrate
from howdah.demo.interruption import admit_signals, hold_signals, ignore_signals
from howdah.embedded.layout import read_layout
from howdah.embedded.locks import is_held
from howdah.embedded.server import EmbeddedServer, ServerSettings

_KEEPER_SECONDS = 5.0


@dataclass(frozen=True)
class PrivateServer:
    """A migrated database and the folder that it lives in."""

    folder: Path
    url: str


@contextmanager
def private_server(catalog: Catalog) -> Iterator[PrivateServer]:
    """Starts and migrates it; stops it and removes the folder when the block ends, however it ends."""
    hold_signals()
    folder = Path(tempfile.mkdtemp(prefix="howdah-demo-"))
    # Not durable: a folder that is about to be removed need not survive a power cut.
    server = EmbeddedServer(folder, settings=ServerSettings(durable=False))
    try:
        admit_signals()
        # If we are root the server runs as another account, which has to get through here to its own, private folder.
        folder.chmod(0o711)
        url = server.acquire()
        with connect(url, "demo") as connection:
            migrate(connection, catalog)
        yield PrivateServer(folder, url)
    finally:
        ignore_signals()
        _clear_away(server, folder)


def _clear_away(server: EmbeddedServer, folder: Path) -> None:
    server.stop()
    layout = read_layout(folder)
    # The keeper sees within milliseconds that the last user has left; its folder goes after it.
    deadline = time.monotonic() + _KEEPER_SECONDS
    while is_held(layout.keeper_lock) and time.monotonic() < deadline:
        time.sleep(0.01)
    # Home and socket lie elsewhere if the path is too long, or if the server's account cannot enter it.
    for made in (layout.home, layout.socket_dir, folder):
        shutil.rmtree(made, ignore_errors=True)
