"""What a run is made of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from torture.code import Code
from torture.database import Database
from torture.network import Network
from torture.pooler import Pooler
from torture.tiers import Tier


@dataclass(frozen=True)
class Parts:
    """Everything that is there before the first process under test starts."""

    tier: Tier
    seed: int
    folder: Path
    code: Code
    database: Database
    network: Network
    pooler: Pooler | None

    @property
    def worker_ports(self) -> list[int]:
        """One for each worker."""
        return self.network.ports[: self.tier.workers]

    @property
    def producer_ports(self) -> list[int]:
        """One for each producer."""
        return self.network.ports[self.tier.workers :]

    def url(self, port: int) -> str:
        """The database as seen through that port."""
        return f"postgresql://howdah@127.0.0.1:{port}/howdah?sslmode=disable&gssencmode=disable"
