"""What the runner asks of a system, and what a system says about itself.

One file per system keeps to this: a `PEER`, and the functions `prepare`, `producer` and `work`. The file imports
the system's package inside those functions only, so that the runner and the report can read every `PEER`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Sizes:
    """How many jobs: fewer for slow systems, so that each measurement ends within about fifteen seconds."""

    drain: int = 100_000
    single: int = 3_000
    bulk: int = 50_000
    batch: int = 5_000
    """Jobs per call of the bulk API; not tuned."""
    flow: int = 2_000
    """Jobs per call while the worker runs (sustained, pinned)."""


@dataclass(frozen=True)
class Peer:
    """What the report says of a system, and what the runner needs to know."""

    name: str
    title: str
    packages: Sequence[str]
    """The distributions whose versions are reported."""
    settings: Mapping[str, str]
    keeps: str
    """What remains of a finished job."""
    handler: str
    durable: str
    sizes: Sizes = field(default_factory=Sizes)
    store: str = "postgresql"
    language: str = "Python"
    waiting: str | None = None
    """SQL: how many jobs are not finished (waiting or running); None where SQL cannot see it."""
    program: Sequence[str] | None = None
    """Command of a system that is not Python, instead of benchmarks.program."""
    options: Mapping[str, int] = field(default_factory=dict)
    """Settings for such a program, passed with its plan."""
    minimum_python: tuple[int, int] = (3, 11)
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Plan:
    """What one process is told to do; passed as JSON."""

    system: str
    url: str
    folder: str
    first: int = 1
    """Number of the first job."""
    jobs: int = 0
    single: int = 0
    batch: int = 1_000
    seconds: float = 0.0
    backlog: int = 20_000
    rate: float = 100.0
    options: Mapping[str, int] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return Path(self.folder)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Plan:
        return cls(**json.loads(text))


class Producer(Protocol):
    """Enqueues through the public API; every call returns when the store has accepted the jobs."""

    async def one(self, n: int) -> None: ...

    async def many(self, numbers: Sequence[int]) -> None: ...

    async def close(self) -> None: ...


class System(Protocol):
    """What a module in this package offers, besides being importable without the system's package."""

    PEER: Peer

    async def prepare(self, url: str) -> None:
        """Create the schema."""

    async def producer(self, plan: Plan) -> Producer: ...

    def work(self, plan: Plan) -> None:
        """Run the worker until SIGTERM, recording each handler run."""
