"""Carries out a schedule, each fault in a thread of its own, and remembers which of them landed."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext

import psycopg

from torture.code import NEW, Code
from torture.database import Database
from torture.evidence import Strike
from torture.fleet import Fleet, Member
from torture.network import Network
from torture.pooler import Pooler
from torture.schedule import Fault, Planned

#: How long to wait for a moment in which a worker is inside a handler.
_INSIDE_SECONDS = 3.0
#: Statements whose reply is dropped: the ends of jobs, claims, and enqueues.
WORDS = ("complete_jobs", "complete_jobs", "claim_from_marks", "finish_jobs", "INSERT INTO")
#: A reply that nobody waited for in this time will not come any more.
_ARMED_SECONDS = 5.0
#: How long to wait for a worker that works and that no other fault has.
_VICTIM_SECONDS = 10.0
#: A worker's replacement may be killed in turn.
_REPLACED_SECONDS = 120.0
#: Of each outage, the name of its quota.
_OUTAGES = {Fault.CRASH: "server_crashes", Fault.FAILOVER: "failovers", Fault.FULL_DISK: "full_disks"}


class Nemesis:
    """One run's worth of trouble."""

    def __init__(
        self,
        fleet: Fleet,
        network: Network,
        database: Database,
        producer_ports: list[int],
        pooler: Pooler | None,
        migrated: Callable[[], None],
    ) -> None:
        self._fleet = fleet
        #: What the run began with, and what a deploy that is taken back returns to.
        self._before = fleet.code
        self._network = network
        self._database = database
        self._producer_ports = producer_ports
        self._pooler = pooler
        #: Called once, after the first deploy's migration.
        self._tell_migrated = migrated
        self._mutex = threading.Lock()
        self._crashing = threading.Lock()
        self._deploying = threading.Lock()
        # Somebody must be there to take over, or recovery could not be timed.
        self._away = threading.Semaphore(max(1, len(fleet.members) // 2))
        self._threads: list[threading.Thread] = []
        self.strikes: list[Strike] = []
        #: What landed, by the name of its quota.
        self.landed: Counter[str] = Counter()
        #: From a crash's end to the server's answer, for the report.
        self.back: list[float] = []
        self.failures: list[str] = []

    def run(self, schedule: list[Planned], say: Callable[[str], None]) -> None:
        """All of it, in its time; returns when the last fault has ended."""
        begin = time.monotonic()
        for planned in schedule:
            time.sleep(max(0.0, begin + planned.at - time.monotonic()))
            say(str(planned))
            thread = threading.Thread(target=self._strike, args=(planned,), daemon=True)
            thread.start()
            self._threads.append(thread)
        for thread in self._threads:
            thread.join()
        self._network.heal()

    def _strike(self, planned: Planned) -> None:
        try:
            self._carry_out(planned)
        except Exception as error:
            # A fault that meets another one (a server that is just down) is spent; anything else is the rig's defect.
            if not isinstance(error, psycopg.OperationalError):
                self.failures.append(f"{planned}: {type(error).__name__}: {error}")

    def _carry_out(self, planned: Planned) -> None:
        match planned.fault:
            case Fault.CRASH | Fault.FULL_DISK | Fault.FAILOVER:
                with self._crashing:
                    self._outage(planned)
            case Fault.DEPLOY:
                self._deploy(planned)
            case Fault.TERMINATE:
                if self._database.terminate_backend(planned.victim):
                    self._note("backends_terminated")
            case Fault.POOLER:
                self._restart_pooler()
            case Fault.DROP_COMMIT:
                self._drop_commit(planned)
            case _:
                with self._away if planned.seconds else nullcontext():
                    self._strike_somebody(planned)

    def _strike_somebody(self, planned: Planned) -> None:
        deadline = time.monotonic() + _VICTIM_SECONDS
        while (member := self._fleet.pick(planned.victim)) is None:
            if time.monotonic() > deadline:
                return
            time.sleep(0.05)
        try:
            self._strike_worker(planned, member)
        finally:
            self._fleet.release(member)

    def _strike_worker(self, planned: Planned, member: Member) -> None:
        match planned.fault:
            case Fault.KILL:
                self._kill(member)
            case Fault.STOP:
                self._stop(member, planned.seconds)
            case Fault.TERM:
                self._term(member)
            case _:
                self._network_fault(planned, member)

    def _kill(self, member: Member) -> None:
        _wait_inside(member)
        member.killed = True
        began = time.monotonic()
        member.process.kill()
        member.process.wait()
        inside = member.running()
        self._add(Strike("kill", began, time.monotonic(), member.name, f"{inside} handlers"))
        if inside:
            self._note("kills_inside_a_handler")

    def _stop(self, member: Member, seconds: float) -> None:
        # A thread goes on where it stopped, and ends what is another's by then.
        _wait_inside(member, "block")
        began = time.monotonic()
        member.process.send_signal(signal.SIGSTOP)
        try:
            time.sleep(seconds)
        finally:
            member.process.send_signal(signal.SIGCONT)
            self._add(Strike("stop", began, time.monotonic(), member.name))
        if member.process.poll() is None:
            self._note("stops_past_the_lease")

    def _term(self, member: Member) -> None:
        member.killed = True
        began = time.monotonic()
        member.process.send_signal(signal.SIGTERM)
        member.process.wait(30)
        self._add(Strike("term", began, time.monotonic(), member.name, f"exit {member.process.returncode}"))
        # Nobody else strikes it meanwhile, but a poison job that it still held may have killed it on its way out.
        poisoned = member.process.returncode == -signal.SIGKILL and member.took_poison()
        if member.process.returncode != 0 and not poisoned:
            self.failures.append(f"{member.name} ended with {member.process.returncode} after SIGTERM")

    def _network_fault(self, planned: Planned, member: Member) -> None:
        began = time.monotonic()
        hit = self._network.order(planned.fault, member.port).get("hit", 0)
        if planned.seconds:
            time.sleep(planned.seconds)
            self._network.order("heal", member.port)
        self._add(Strike(planned.fault, began, time.monotonic(), member.name, f"{hit} connections"))
        if hit:
            self._note("network_faults")

    def _drop_commit(self, planned: Planned) -> None:
        # At workers and at producers.
        word = WORDS[int(planned.choice * len(WORDS))]
        ports = self._producer_ports if word == "INSERT INTO" else [member.port for member in self._fleet.members]
        port = ports[int(planned.victim * len(ports))]
        began = time.monotonic()
        before = self._network.order("dropped", port)["dropped"]
        self._network.order("arm", port, word=word)
        while time.monotonic() < began + _ARMED_SECONDS:
            if self._network.order("dropped", port)["dropped"] > before:
                self._add(Strike("drop_commit", began, time.monotonic(), str(port), word))
                return
            time.sleep(0.02)

    def _restart_pooler(self) -> None:
        if self._pooler is not None:
            # One at a time with the server: a pooler is known to be up when the server answers through it.
            with self._crashing:
                began = time.monotonic()
                self._pooler.restart()
                self._add(Strike("pooler", began, time.monotonic(), None))
                self._note("pooler_restarts")

    def _outage(self, planned: Planned) -> None:
        began = time.monotonic()
        felt = True
        match planned.fault:
            case Fault.CRASH:
                self._database.crash(politely=planned.choice < 0.5)
            case Fault.FAILOVER:
                self._database.fail_over()
            case _:
                felt = self._database.fill_disk(planned.seconds, log_too=planned.choice < 0.5)
        self._add(Strike(planned.fault, began, time.monotonic(), None))
        self.back.append(time.monotonic())
        if felt:
            self._note(_OUTAGES[planned.fault])
        if planned.fault is Fault.FAILOVER:
            # No other outage until there is a standby again: who loses both has lost what was committed.
            self._database.stand_by()

    def _deploy(self, planned: Planned) -> None:
        """Migrate, then replace the workers one after the other; a later deploy first goes back to the release before,
        whose workers then meet the new schema."""
        with self._deploying:
            if self.landed["rolling_deploys"]:
                self._replace_workers(self._before)
                time.sleep(planned.seconds)
            self._database.migrate()
            if not self.landed["rolling_deploys"]:
                self._tell_migrated()
            self._replace_workers(NEW)
            self._note("rolling_deploys")

    def _replace_workers(self, code: Code) -> None:
        self._fleet.code = code
        for place in range(len(self._fleet.members)):
            deadline = time.monotonic() + _REPLACED_SECONDS
            while not self._fleet.runs(place, code):
                if (member := self._fleet.take(place, unless=code)) is not None:
                    try:
                        self._term(member)
                    finally:
                        self._fleet.release(member)
                if time.monotonic() > deadline:
                    raise RuntimeError(f"worker {place + 1} was not replaced by one of {code.name}")
                time.sleep(0.05)

    def _add(self, strike: Strike) -> None:
        with self._mutex:
            self.strikes.append(strike)

    def _note(self, quota: str) -> None:
        with self._mutex:
            self.landed[quota] += 1


def _wait_inside(member: Member, kind: str | None = None) -> None:
    """Until it is inside a handler, if that is soon."""
    deadline = time.monotonic() + _INSIDE_SECONDS
    while not member.running(kind) and time.monotonic() < deadline and member.process.poll() is None:
        time.sleep(0.005)
