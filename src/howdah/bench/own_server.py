"""A PostgreSQL of the bench's own, in a temporary folder that is removed afterwards; its commits are durable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from howdah.embedded.server import EmbeddedServer, ServerSettings
from howdah.embedded.temporary import clear_away, temporary_folder

#: Room for fifty workers; the rest is what one would set on a machine of a few gigabytes.
POSTGRES = {"max_connections": "400", "shared_buffers": "512MB", "max_wal_size": "4GB", "checkpoint_timeout": "15min"}


@contextmanager
def own_server() -> Iterator[str]:
    """Its URL while the block runs."""
    folder = temporary_folder("howdah-bench-server-")
    server = EmbeddedServer(folder, settings=ServerSettings(postgres=POSTGRES))
    try:
        yield server.acquire()
    finally:
        clear_away(server, folder)
