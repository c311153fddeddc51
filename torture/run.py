"""One run from its beginning to its verdict."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torture.census import Census
from torture.checker import check
from torture.code import NEW, Code, older
from torture.database import Database
from torture.evidence import Evidence, read_database, read_offers, read_runs, write_down
from torture.fleet import Fleet
from torture.nemesis import Nemesis
from torture.network import Network, free_ports
from torture.parts import Parts
from torture.pooler import Pooler, find_pgbouncer
from torture.producers import Producers
from torture.schedule import Planned, digest
from torture.slo import Slo, measure
from torture.tiers import Tier

_REFUSED = "its end was refused"
_LOOK_SECONDS = 0.2


@dataclass
class Verdict:
    """What became of a run."""

    tier: Tier
    seed: int
    schedule: str
    postgres: str
    #: What workers ran before the first deploy.
    began_with: Code
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
    code = older(folder) if tier.quota.rolling_deploys else NEW
    database = Database(code, standby=bool(tier.quota.failovers), disk_megabytes=tier.disk_megabytes)
    pooler = Pooler(str(database.socket.parent)) if find_pgbouncer() else None
    targets = dict.fromkeys(free_ports(tier.workers + tier.producers), database.socket)
    if pooler is not None:
        # The first worker's way leads through it, and so does that of whoever takes its place.
        targets[next(iter(targets))] = pooler.socket
    network = Network(folder, targets)
    try:
        verdict = _run(Parts(tier, seed, folder, code, database, network, pooler), schedule, say)
    finally:
        network.close()
        if pooler is not None:
            pooler.close()
        for log in database.logs():
            shutil.copy(log, folder / f"{log.parent.name}-{log.name}")
        database.close()
    if verdict.held and not keep:
        shutil.rmtree(folder)
    else:
        write_down(verdict.evidence, folder)
    return verdict


def _run(parts: Parts, schedule: list[Planned], say: Callable[[str], None]) -> Verdict:
    fleet = Fleet(parts.folder, parts.worker_ports, parts.url, parts.code)
    census = Census(parts.network, fleet)
    producers = Producers(parts, schedule)
    try:
        producers.start()
        nemesis = Nemesis(
            fleet, parts.network, parts.database, parts.producer_ports, parts.pooler, producers.start_the_rest
        )
        census.start()
        nemesis.run(schedule, say)
        say("torture: the last fault is over")
        healed = time.monotonic()
        finished = producers.wait()
        drained = _wait_drained(parts.database, max(healed, time.monotonic()), parts.tier.patience)
        census.stop()
    except BaseException:
        fleet.kill()
        producers.kill()
        raise
    codes = fleet.stop()
    evidence = _gather(parts)
    evidence.strikes = [*nemesis.strikes, *fleet.strikes]
    evidence.drained_seconds = drained
    evidence.producers_finished = finished
    evidence.most_connections, evidence.busiest = census.most, census.busiest
    evidence.most_connections_of_older = census.most_of_older
    landed = {
        **nemesis.landed,
        "wrong_clocks": fleet.wrong_clocks,
        "commit_replies_dropped": evidence.commit_replies_dropped,
        "stale_ends_refused": evidence.stale_ends_refused,
    }
    failures = [*nemesis.failures, *(f"a worker ended with {code} when told to stop" for code in codes if code)]
    return Verdict(
        parts.tier,
        parts.seed,
        digest(schedule),
        parts.database.version,
        parts.code,
        parts.folder,
        evidence,
        check(evidence),
        landed,
        measure(evidence, nemesis.back),
        failures,
    )


def _wait_drained(database: Database, since: float, patience: float) -> float | None:
    with database.connect() as connection:
        while time.monotonic() < since + patience:
            row = connection.execute(
                "SELECT EXISTS (SELECT FROM howdah.jobs WHERE status IN ('pending', 'claimed', 'running'))"
            ).fetchone()
            if row == (False,):
                return time.monotonic() - since
            time.sleep(_LOOK_SECONDS)
    return None


def _gather(parts: Parts) -> Evidence:
    evidence = Evidence(offers=read_offers(parts.folder), runs=read_runs(parts.folder))
    offset = time.time() - time.monotonic()
    with parts.database.connect() as connection:
        evidence.history, evidence.rows = read_database(connection, offset)
    lines = (line for log in parts.database.logs() for line in log.read_text(errors="replace").splitlines())
    evidence.deadlocks = [line for line in lines if "deadlock" in line]
    logs: list[Any] = sorted(parts.folder.glob("worker-*.log"))
    evidence.stale_ends_refused = sum(log.read_text(errors="replace").count(_REFUSED) for log in logs)
    evidence.commit_replies_dropped = parts.network.dropped()
    return evidence
