"""How much a bench does."""

from __future__ import annotations

from dataclasses import dataclass

from howdah.model.errors import OptionError

PINS = ("read-only", "xid", "enqueued", "pg_dump")
#: All of them held at once.
TOGETHER = "together"


@dataclass(frozen=True, slots=True)
class BenchSettings:
    """None: the scenario's own default."""

    jobs: int | None = None
    seconds: float | None = None
    rounds: int = 3
    payload: int = 100
    """Bytes of a job's arguments, about."""
    concurrency: int = 100
    """Jobs at once in a worker."""
    batch: int = 1000
    """Jobs in one enqueue_many of a producer."""
    pins: tuple[str, ...] = PINS
    pending: int | None = None
    finished: int | None = None
    scheduled: int | None = None
    workers: int | None = None
    reporters: int | None = None
    rate: int = 100
    """Jobs a second where latency is measured."""

    def __post_init__(self) -> None:
        for name in ("jobs", "workers", "reporters"):
            _check(name, getattr(self, name), 1, 100_000_000)
        for name in ("pending", "finished", "scheduled"):
            _check(name, getattr(self, name), 0, 1_000_000_000)
        _check("seconds", self.seconds, 0.1, 86_400)
        _check("rounds", self.rounds, 1, 1000)
        _check("payload", self.payload, 0, 100_000)
        _check("concurrency", self.concurrency, 1, 10_000)
        _check("batch", self.batch, 1, 100_000)
        _check("rate", self.rate, 1, 10_000)


def _check(name: str, value: float | None, least: float, most: float) -> None:
    if value is not None and not least <= value <= most:
        raise OptionError(f"--{name} is {value:,}; {least:,} to {most:,} are allowed")
