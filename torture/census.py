"""Counts connections."""

from __future__ import annotations

import threading
from collections import deque

from torture.network import Network

_CENSUS_SECONDS = 1.0
_TIMES = 2


class Census(threading.Thread):
    """Counts the connections of each worker, again and again, as its port sees them."""

    def __init__(self, network: Network, ports: list[int]) -> None:
        super().__init__(daemon=True)
        self._network = network
        self._seen = {port: deque([0] * _TIMES, _TIMES) for port in ports}
        self._over = threading.Event()
        self.most = 0

    def run(self) -> None:
        """Until stopped."""
        while not self._over.wait(_CENSUS_SECONDS):
            for port, counts in self._seen.items():
                seen = self._network.order("count", port)
                counts.append(0 if seen["fault"] else int(seen["connections"]))
                # Twice in a row: a connection that has just been replaced, or that a fault has left, goes away.
                self.most = max(self.most, min(counts))

    def stop(self) -> None:
        """No more."""
        self._over.set()
        self.join()
