"""A folder for a server that nobody needs afterwards, and its removal."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

from howdah.embedded.layout import read_layout
from howdah.embedded.locks import is_held
from howdah.embedded.server import EmbeddedServer

_KEEPER_SECONDS = 5.0


def temporary_folder(prefix: str) -> Path:
    """A new folder among the temporary ones, which the server can reach."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    # If we are root the server runs as another account, which has to get through here to its own, private folder.
    folder.chmod(0o711)
    return folder


def clear_away(server: EmbeddedServer, folder: Path) -> None:
    """Stop the server and remove its folder with all that was made for it elsewhere."""
    server.stop()
    layout = read_layout(folder)
    # The keeper sees within milliseconds that the last user has left; its folder goes after it.
    deadline = time.monotonic() + _KEEPER_SECONDS
    while is_held(layout.keeper_lock) and time.monotonic() < deadline:
        time.sleep(0.01)
    # Home and socket lie elsewhere if the path is too long, or if the server's account cannot enter it.
    for made in (layout.home, layout.socket_dir, folder):
        shutil.rmtree(made, ignore_errors=True)
