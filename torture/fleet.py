"""Worker processes: as many as the tier wants, each with a port of its own; one that dies is replaced by another."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from torture import ledger
from torture.clocks import wrong_clock
from torture.code import Code
from torture.evidence import Strike
from torture.jobs import FOLDER_VARIABLE, WORKER_VARIABLE
from torture.paths import ROOT
from torture.tiers import SILENCE_SECONDS

_LOOK_SECONDS = 0.05
_STOP_SECONDS = 30.0
_STARTED = "worker started"
#: More than the offered jobs need while half the workers are dead, stopped or cut off, as they are at every moment.
CONCURRENCY = 40


@dataclass
class Member:
    """One worker process. struck: somebody is just doing something to it."""

    name: str
    port: int
    process: subprocess.Popen[bytes]
    ledger: Path
    log: Path
    code: Code
    struck: bool = False
    killed: bool = False
    _ready: bool = False

    def ready(self) -> bool:
        """Whether it has begun to work: before that a signal finds an interpreter that is still starting."""
        self._ready = self._ready or _STARTED in self.log.read_text(errors="replace")
        return self._ready

    def took_poison(self) -> bool:
        """Whether it has started a job that kills, which nobody survives."""
        lines = ledger.read(self.ledger) if self.ledger.exists() else iter(())
        return any(line[0] == "start" and line[-1] == "poison" for line in lines)

    def running(self, kind: str | None = None) -> int:
        """How many handlers, or of that kind, have begun and not ended, by its own ledger."""
        if not self.ledger.exists():
            return 0
        begun: dict[tuple[str, int], str] = {}
        for what, _, job, _, attempt, word in ledger.read(self.ledger):
            if what == "start":
                begun[job, attempt] = word
            else:
                begun.pop((job, attempt), None)
        return len(begun) if kind is None else list(begun.values()).count(kind)


class Fleet:
    """Keeps the workers alive until told otherwise."""

    def __init__(self, folder: Path, ports: list[int], url: Callable[[int], str], code: Code) -> None:
        self._folder = folder
        #: What the next worker to start will run.
        self.code = code
        self._url = url
        self._numbers = iter(range(1, 10**9))
        self._mutex = threading.Lock()
        self._over = threading.Event()
        self.strikes: list[Strike] = []
        #: How many workers had one.
        self.wrong_clocks = 0
        self.members = [self._start(port) for port in ports]
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def pick(self, draw: float) -> Member | None:
        """One that lives and that nobody else strikes; it is the caller's until released."""
        with self._mutex:
            living = [member for member in self.members if not member.struck and member.process.poll() is None]
            free = [member for member in living if member.ready()]
            if not free:
                return None
            member = free[int(draw * len(free))]
            member.struck = True
            return member

    def runs(self, place: int, code: Code) -> bool:
        """Whether the worker at that place works, and with that code."""
        member = self.members[place]
        return member.code == code and member.process.poll() is None and member.ready()

    def take(self, place: int, unless: Code) -> Member | None:
        """The one at that place, if it works, runs other code, and nobody else strikes it."""
        with self._mutex:
            member = self.members[place]
            if member.struck or member.code == unless or member.process.poll() is not None or not member.ready():
                return None
            member.struck = True
            return member

    def release(self, member: Member) -> None:
        """Done with it."""
        member.struck = False

    def stop(self) -> list[int]:
        """In peace; the exit codes."""
        self._over.set()
        self._thread.join()
        for member in self.members:
            if member.process.poll() is None:
                member.process.send_signal(signal.SIGCONT)
                member.process.terminate()
        codes = []
        for member in self.members:
            try:
                codes.append(member.process.wait(_STOP_SECONDS))
            except subprocess.TimeoutExpired:
                member.process.kill()
                codes.append(member.process.wait())
        return codes

    def kill(self) -> None:
        """All of them, at once."""
        self._over.set()
        self._thread.join()
        for member in self.members:
            member.process.kill()
            member.process.wait()

    def _watch(self) -> None:
        while not self._over.wait(_LOOK_SECONDS):
            with self._mutex:
                for place, member in enumerate(self.members):
                    if member.process.poll() is not None and not member.struck:
                        now = time.monotonic()
                        if not member.killed:
                            # By itself: a poison job, or a defect, which the checker will tell apart.
                            note = f"exit {member.process.returncode}"
                            self.strikes.append(Strike("died", now - _LOOK_SECONDS, now, member.name, note))
                        self.members[place] = self._start(member.port)

    def _start(self, port: int) -> Member:
        number = next(self._numbers)
        name = f"worker-{number}"
        clock = wrong_clock(number)
        self.wrong_clocks += bool(clock)
        log = self._folder / f"{name}.log"
        environment = {
            **self.code.environment(),
            **clock,
            "HOWDAH_URL": self._url(port),
            FOLDER_VARIABLE: str(self._folder),
            WORKER_VARIABLE: name,
        }
        arguments = ["worker", "torture.jobs:app", "--name", name, "--concurrency", str(CONCURRENCY), "--grace", "2s"]
        arguments += ["--silence", f"{SILENCE_SECONDS}s", "--log-format", "json"]
        with log.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "howdah", *arguments], cwd=ROOT, env=environment, stdout=file, stderr=file
            )
        return Member(name, port, process, self._folder / f"{name}.ledger", log, self.code)
