"""One run from its beginning to its verdict."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torture.checker import check
from torture.evidence import Evidence, read_database, read_offers, read_runs, write_down
from torture.fleet import Fleet
from torture.jobs import FOLDER_VARIABLE
from torture.nemesis import Nemesis
from torture.network import Network, free_ports
from torture.paths import ROOT
from torture.pooler import Pooler, find_pgbouncer
from torture.schedule import Planned, digest
from torture.server import Server
from torture.slo import Slo, measure
from torture.tiers import Tier

_REFUSED = "its end was refused"
#: Of the tier's time, what producers take to offer everything: the last faults meet a system that only drains.
_PRODUCING = 0.9
_LAST_CALLS_SECONDS = 120.0
_LOOK_SECONDS = 0.2
_CENSUS_SECONDS = 1.0


@dataclass
class Verdict:
    """What became of a run."""

    tier: Tier
    seed: int
    schedule: str
    postgres: str
    folder: Path
    evidence: Evidence
    violations: dict[str, list[str]]
    landed: dict[str, int]
    slos: list[Slo]
    failures: list[str] = field(default_factory=list)

    @property
    def too_easy(self) -> list[str]:
        """Quotas that were not reached."""
        return [
            f"{name}: {self.landed.get(name, 0)} of {least}"
            for name, least in self.tier.quota.items()
            if self.landed.get(name, 0) < least
        ]

    @property
    def held(self) -> bool:
        """Nothing violated, hard enough, in time where that can be judged, and the rig itself in order."""
        late = [slo for slo in self.slos if not slo.met and self.tier.timed]
        return not (any(self.violations.values()) or self.too_easy or self.failures or late)


def torture(tier: Tier, seed: int, schedule: list[Planned], *, keep: bool, say: Callable[[str], None]) -> Verdict:
    """Run it. The folder with ledgers and logs stays if something is wrong."""
    folder = Path(tempfile.mkdtemp(prefix="howdah-torture-ledger-"))
    server = Server()
    pooler = Pooler(str(server.socket.parent)) if find_pgbouncer() else None
    targets = dict.fromkeys(free_ports(tier.workers + tier.producers), server.socket)
    if pooler is not None:
        # The first worker's way leads through it, and so does that of whoever takes its place.
        targets[next(iter(targets))] = pooler.socket
    network = Network(folder, targets)
    try:
        verdict = _run(tier, seed, schedule, folder, server, network, pooler, say)
    finally:
        network.close()
        if pooler is not None:
            pooler.close()
        shutil.copy(server.log, folder / "server.log")
        server.close()
    if verdict.held and not keep:
        shutil.rmtree(folder)
    else:
        write_down(verdict.evidence, folder)
    return verdict


def _run(
    tier: Tier,
    seed: int,
    schedule: list[Planned],
    folder: Path,
    server: Server,
    network: Network,
    pooler: Pooler | None,
    say: Callable[[str], None],
) -> Verdict:
    def url(port: int) -> str:
        return f"postgresql://howdah@127.0.0.1:{port}/howdah?sslmode=disable&gssencmode=disable"

    worker_ports, producer_ports = network.ports[: tier.workers], network.ports[tier.workers :]
    fleet = Fleet(folder, worker_ports, url)
    census = Census(network, worker_ports)
    try:
        producers = [
            _produce(tier, seed, folder, number, url(port)) for number, port in enumerate(producer_ports, start=1)
        ]
        nemesis = Nemesis(fleet, network, server, producer_ports, pooler)
        census.start()
        nemesis.run(schedule, say)
        say("torture: the last fault is over")
        healed = time.monotonic()
        finished = _wait_producers(producers)
        drained = _wait_drained(server, max(healed, time.monotonic()), tier.patience)
        census.stop()
    except BaseException:
        fleet.kill()
        raise
    codes = fleet.stop()
    evidence = _gather(folder, server)
    evidence.strikes = [*nemesis.strikes, *fleet.strikes]
    evidence.commit_replies_dropped = network.dropped()
    evidence.drained_seconds = drained
    evidence.producers_finished = finished
    evidence.most_connections = census.most
    landed = {
        **nemesis.landed,
        "wrong_clocks": fleet.wrong_clocks,
        "commit_replies_dropped": evidence.commit_replies_dropped,
        "stale_ends_refused": evidence.stale_ends_refused,
    }
    failures = [*nemesis.failures, *(f"a worker ended with {code} when told to stop" for code in codes if code)]
    slos = measure(evidence, nemesis.back)
    return Verdict(
        tier, seed, digest(schedule), server.version, folder, evidence, check(evidence), landed, slos, failures
    )


class Census(threading.Thread):
    """Counts the connections of each worker, again and again, as its port sees them."""

    def __init__(self, network: Network, ports: list[int]) -> None:
        super().__init__(daemon=True)
        self._network = network
        self._before = dict.fromkeys(ports, 0)
        self._over = threading.Event()
        self.most = 0

    def run(self) -> None:
        """Until stopped."""
        while not self._over.wait(_CENSUS_SECONDS):
            for port, before in self._before.items():
                seen = self._network.order("count", port)
                count = 0 if seen["fault"] else int(seen["connections"])
                # Twice in a row: a connection that has just been replaced, or that a fault has left, goes away.
                self.most = max(self.most, min(before, count))
                self._before[port] = count

    def stop(self) -> None:
        """No more."""
        self._over.set()
        self.join()


def _produce(tier: Tier, seed: int, folder: Path, number: int, url: str) -> subprocess.Popen[bytes]:
    name = f"producer-{number}"
    jobs, poisons = tier.jobs // tier.producers, -(-tier.poisons // tier.producers)
    arguments = [name, str(seed), str(jobs), str(poisons), str(tier.seconds * _PRODUCING)]
    environment = {**os.environ, "HOWDAH_URL": url, FOLDER_VARIABLE: str(folder)}
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "torture.producer", *arguments], cwd=ROOT, env=environment, stdout=log, stderr=log
        )


def _wait_producers(producers: list[subprocess.Popen[bytes]]) -> bool:
    deadline = time.monotonic() + _LAST_CALLS_SECONDS
    finished = True
    for producer in producers:
        try:
            finished &= producer.wait(max(0.0, deadline - time.monotonic())) == 0
        except subprocess.TimeoutExpired:
            producer.kill()
            finished = False
    return finished


def _wait_drained(server: Server, since: float, patience: float) -> float | None:
    with server.connect() as connection:
        while time.monotonic() < since + patience:
            row = connection.execute(
                "SELECT EXISTS (SELECT FROM howdah.jobs WHERE status IN ('pending', 'claimed', 'running'))"
            ).fetchone()
            if row == (False,):
                return time.monotonic() - since
            time.sleep(_LOOK_SECONDS)
    return None


def _gather(folder: Path, server: Server) -> Evidence:
    evidence = Evidence(offers=read_offers(folder), runs=read_runs(folder))
    offset = time.time() - time.monotonic()
    with server.connect() as connection:
        evidence.history, evidence.rows = read_database(connection, offset)
    evidence.deadlocks = [line for line in server.log.read_text(errors="replace").splitlines() if "deadlock" in line]
    logs: list[Any] = sorted(folder.glob("worker-*.log"))
    evidence.stale_ends_refused = sum(log.read_text(errors="replace").count(_REFUSED) for log in logs)
    return evidence
