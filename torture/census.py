"""Counts connections."""

from __future__ import annotations

import threading
from collections import deque

from torture.code import NEW
from torture.fleet import Fleet
from torture.network import Network

_CENSUS_SECONDS = 1.0
_TIMES = 2


class Census(threading.Thread):
    """Counts the connections of each worker, again and again, as its port sees them. Workers of the release before are
    counted by themselves: what was wrong with that release can no longer be put right in it."""

    def __init__(self, network: Network, fleet: Fleet) -> None:
        super().__init__(daemon=True)
        self._network = network
        self._fleet = fleet
        self._seen: dict[str, deque[int]] = {}
        self._over = threading.Event()
        self.most = 0
        #: The worker that had the most.
        self.busiest = ""
        self.most_of_older = 0

    def run(self) -> None:
        """Until stopped."""
        while not self._over.wait(_CENSUS_SECONDS):
            for member in list(self._fleet.members):
                seen = self._network.order("count", member.port)
                counts = self._seen.setdefault(member.name, deque([0] * _TIMES, _TIMES))
                counts.append(0 if seen["fault"] else int(seen["connections"]))
                # Twice in a row: a connection that has just been replaced, or that a fault has left, goes away.
                sure = min(counts)
                if member.code != NEW:
                    self.most_of_older = max(self.most_of_older, sure)
                elif sure > self.most:
                    self.most, self.busiest = sure, member.name

    def stop(self) -> None:
        """No more."""
        self._over.set()
        self.join()
