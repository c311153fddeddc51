"""Producer processes. With a deploy ahead, one runs the older code all along; the others start after the migration that
they need, as an application does. All in all they offer at one pace: who starts earlier offers more."""

from __future__ import annotations

import subprocess
import sys
import time

from torture.code import NEW, Code
from torture.jobs import FOLDER_VARIABLE
from torture.parts import Parts
from torture.paths import ROOT
from torture.schedule import Fault, Planned

#: Of the tier's time, what they take to offer everything: the last faults meet a system that only drains.
_PRODUCING = 0.9
_LAST_CALLS_SECONDS = 120.0


class Producers:
    """As many as the tier wants."""

    def __init__(self, parts: Parts, schedule: list[Planned]) -> None:
        self._parts = parts
        producing = parts.tier.seconds * _PRODUCING
        deploys = [planned.at for planned in schedule if planned.fault is Fault.DEPLOY]
        #: Of the time, the part in which the first is alone.
        self._alone = min(0.9, min(deploys, default=0.0) / producing) if parts.code != NEW else 0.0
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
        jobs = share(parts.tier.jobs, number, parts.tier.producers, self._alone)
        poisons = share(parts.tier.poisons, number, parts.tier.producers, self._alone)
        seconds = max(1.0, self._until - time.monotonic())
        alone = self._alone if number == 1 else 0.0
        arguments = [name, str(parts.seed), str(jobs), str(poisons), str(seconds)]
        arguments += [str(int((parts.tier.jobs + parts.tier.poisons) * alone)), str(seconds * alone)]
        url = parts.url(parts.producer_ports[number - 1])
        environment = {**code.environment(), "HOWDAH_URL": url, FOLDER_VARIABLE: str(parts.folder)}
        with (parts.folder / f"{name}.log").open("wb") as log:
            command = [sys.executable, "-m", "torture.producer", *arguments]
            self._processes.append(subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log))


def share(whole: int, number: int, producers: int, alone: float) -> int:
    """What the producer of that number offers: the first all of its time alone, and then as much as each other."""
    each = int(whole * (1.0 - alone) / producers)
    return whole - each * (producers - 1) if number == 1 else each
