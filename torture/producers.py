"""Producer processes. With a deploy ahead, one runs the older code all along; the others start after the migration that
they need, as an application does."""

from __future__ import annotations

import subprocess
import sys
import time

from torture.code import NEW, Code
from torture.jobs import FOLDER_VARIABLE
from torture.parts import Parts
from torture.paths import ROOT

#: Of the tier's time, what they take to offer everything: the last faults meet a system that only drains.
_PRODUCING = 0.9
_LAST_CALLS_SECONDS = 120.0


class Producers:
    """As many as the tier wants."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._until = 0.0
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Those that can work with the schema as it is."""
        self._until = time.monotonic() + self._parts.tier.seconds * _PRODUCING
        first = self._parts.code
        for number in range(1, 2 if first != NEW else self._parts.tier.producers + 1):
            self._start(number, first)

    def start_the_rest(self) -> None:
        """The schema is this checkout's now."""
        for number in range(len(self._processes) + 1, self._parts.tier.producers + 1):
            self._start(number, NEW)

    def wait(self) -> bool:
        """Whether all of them came to their end."""
        deadline = time.monotonic() + _LAST_CALLS_SECONDS
        finished = len(self._processes) == self._parts.tier.producers
        for producer in self._processes:
            try:
                finished &= producer.wait(max(0.0, deadline - time.monotonic())) == 0
            except subprocess.TimeoutExpired:
                producer.kill()
                finished = False
        return finished

    def kill(self) -> None:
        """All of them, at once."""
        for producer in self._processes:
            producer.kill()
            producer.wait()

    def _start(self, number: int, code: Code) -> None:
        parts, name = self._parts, f"producer-{number}"
        jobs, poisons = parts.tier.jobs // parts.tier.producers, -(-parts.tier.poisons // parts.tier.producers)
        seconds = max(1.0, self._until - time.monotonic())
        arguments = [name, str(parts.seed), str(jobs), str(poisons), str(seconds)]
        url = parts.url(parts.producer_ports[number - 1])
        environment = {**code.environment(), "HOWDAH_URL": url, FOLDER_VARIABLE: str(parts.folder)}
        with (parts.folder / f"{name}.log").open("wb") as log:
            command = [sys.executable, "-m", "torture.producer", *arguments]
            self._processes.append(subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log))
