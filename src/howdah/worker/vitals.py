"""How a worker is: what it tells with its heartbeat, and what it answers to probes and to Prometheus."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version

from howdah.telemetry.exposition import Family
from howdah.telemetry.families import Standing, worker_families
from howdah.telemetry.process import STARTED_AT, cpu_seconds, resident_memory
from howdah.telemetry.tally import Tally
from howdah.worker.held import Holdings
from howdah.worker.slots import Slots


class Vitals:
    """Of one worker. Only reads: from the event loop, and what `load` tells from the pulse's thread as well."""

    def __init__(
        self, worker_id: str, tally: Tally, slots: Slots, holdings: Holdings, backlog: Callable[[], int]
    ) -> None:
        self._worker_id = worker_id
        self._tally = tally
        self._slots = slots
        self._holdings = holdings
        self._backlog = backlog

    def load(self) -> str:
        """What goes with a heartbeat into the worker's row, as JSON text."""
        return json.dumps(
            {
                "running": self._slots.running,
                "buffered": self._slots.waiting,
                "slots": self._slots.limit,
                "memory": resident_memory(),
                "lag": round(self._tally.last_lag, 4),
            }
        )

    def trouble(self) -> str | None:
        """Why no jobs should be expected of it; None: all is well."""
        if self._holdings.out_of_touch:
            return f"no heartbeat has arrived for {self._holdings.untouched_for:.0f} s"
        return None

    def families(self) -> list[Family]:
        """All its metrics."""
        standing = Standing(
            worker_id=self._worker_id,
            version=version("howdah"),
            running=self._slots.running,
            buffered=self._slots.waiting,
            slots=self._slots.limit,
            backlog=self._backlog(),
            heartbeat_age=self._holdings.untouched_for,
            memory=resident_memory(),
            cpu_seconds=cpu_seconds(),
            started_at=STARTED_AT,
        )
        return worker_families(self._tally, standing)
