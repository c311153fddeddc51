"""A PostgreSQL of the bench's own, in a temporary folder that is removed afterwards; its commits are durable."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from howdah.embedded.layout import read_layout
from howdah.embedded.locks import is_held
from howdah.embedded.server import EmbeddedServer, ServerSettings

#: Room for fifty workers; the rest is what one would set on a machine of a few gigabytes.
POSTGRES = {"max_connections": "400", "shared_buffers": "512MB", "max_wal_size": "4GB", "checkpoint_timeout": "15min"}
_KEEPER_SECONDS = 5.0


@contextmanager
def own_server() -> Iterator[str]:
    """Its URL while the block runs."""
    folder = Path(tempfile.mkdtemp(prefix="howdah-bench-server-"))
    server = EmbeddedServer(folder, settings=ServerSettings(postgres=POSTGRES))
    try:
        # If we are root the server runs as another account, which has to get through here to its own, private folder.
        folder.chmod(0o711)
        yield server.acquire()
    finally:
        server.stop()
        layout = read_layout(folder)
        deadline = time.monotonic() + _KEEPER_SECONDS
        while is_held(layout.keeper_lock) and time.monotonic() < deadline:
            time.sleep(0.01)
        for made in (layout.home, layout.socket_dir, folder):
            shutil.rmtree(made, ignore_errors=True)
