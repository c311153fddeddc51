"""The rig's hold on its proxy process."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from torture.paths import ROOT

_START_SECONDS = 20.0


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Network:
    """One proxy process."""

    def __init__(self, folder: Path, targets: dict[int, Path]) -> None:
        self.ports = list(targets)
        control = folder / "proxy.socket"
        with (folder / "proxy.log").open("wb") as log:
            ways = [f"{port}={socket}" for port, socket in targets.items()]
            arguments = [sys.executable, "-m", "torture.proxy", str(control), *ways]
            self._process = subprocess.Popen(arguments, cwd=ROOT, stdout=log, stderr=log)
        self._mutex = threading.Lock()
        self._wire = _connect(control)
        self._answers = self._wire.makefile("rb")

    def order(self, do: str, port: int, **more: Any) -> dict[str, Any]:
        """Have something done to one port."""
        with self._mutex:
            self._wire.sendall(json.dumps({"do": do, "port": port, **more}).encode() + b"\n")
            answer: dict[str, Any] = json.loads(self._answers.readline())
            return answer

    def heal(self) -> None:
        """Nothing is wrong with any port."""
        for port in self.ports:
            self.order("heal", port)
            self.order("disarm", port)

    def dropped(self) -> int:
        """How many replies to commits were swallowed."""
        return sum(int(self.order("dropped", port)["dropped"]) for port in self.ports)

    def close(self) -> None:
        """End it."""
        self._wire.close()
        self._process.kill()
        self._process.wait()


def _connect(control: Path) -> socket.socket:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        wire = socket.socket(socket.AF_UNIX)
        try:
            wire.connect(str(control))
        except OSError:
            wire.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return wire
