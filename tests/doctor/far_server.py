"""A server far away: the way there and back takes time."""

from __future__ import annotations

import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def far_away(socket_dir: str, seconds: float) -> Iterator[str]:
    """A folder with a socket that leads to the server's, each message taking that long."""
    folder = Path(tempfile.mkdtemp(prefix="howdah-far-", dir="/var/tmp"))
    name = ".s.PGSQL.5432"
    door = socket.socket(socket.AF_UNIX)
    door.bind(str(folder / name))
    door.listen()

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = door.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(f"{socket_dir}/{name}")
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=_pass_on, args=(source, target, seconds), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield str(folder)
    finally:
        door.close()
        shutil.rmtree(folder, ignore_errors=True)


def _pass_on(source: socket.socket, target: socket.socket, seconds: float) -> None:
    with suppress(OSError):
        while chunk := source.recv(65536):
            time.sleep(seconds)
            target.sendall(chunk)
        target.shutdown(socket.SHUT_WR)
