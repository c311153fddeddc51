"""A PostgreSQL server of the demo's own, in a temporary folder that is removed afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from howdah.db.catalog import Catalog
from howdah.db.connecting import connect
from howdah.db.migrator import migrate
from howdah.demo.interruption import admit_signals, hold_signals, ignore_signals
from howdah.embedded.server import EmbeddedServer, ServerSettings
from howdah.embedded.temporary import clear_away, temporary_folder


@dataclass(frozen=True)
class PrivateServer:
    """A migrated database and the folder that it lives in."""

    folder: Path
    url: str


@contextmanager
def private_server(catalog: Catalog) -> Iterator[PrivateServer]:
    """Starts and migrates it; stops it and removes the folder when the block ends, however it ends."""
    hold_signals()
    folder = temporary_folder("howdah-demo-")
    # Not durable: a folder that is about to be removed need not survive a power cut.
    server = EmbeddedServer(folder, settings=ServerSettings(durable=False))
    try:
        admit_signals()
        url = server.acquire()
        with connect(url, "demo") as connection:
            migrate(connection, catalog)
        yield PrivateServer(folder, url)
    finally:
        ignore_signals()
        clear_away(server, folder)
