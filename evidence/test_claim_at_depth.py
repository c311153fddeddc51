"""A claim beside a million jobs scheduled for later and a million pending of a type that nobody serves.

For the contract's claim and for each of a worker's own: prints the ratio of its time to that on otherwise empty tables,
measured in turns in one run, and shows from the plans that it reads neither million.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import psycopg

from howdah.db.catalog import Catalog
from howdah.db.op import Operation, perform
from howdah.worker.store import Demand, Haul, Place, claim, claim_carefully
from tests.conftest import Database
from tests.rig.servers import TestServer
from tests.system.test_claiming import explained, scans

Sql: TypeAlias = psycopg.Connection[Any]
MILLION = 1_000_000
ROUNDS = 300
BATCH = 100
CONTRACT = "SELECT id FROM claim_job_batch('w', ARRAY['mine'], 100)"
DEMAND = Demand(BATCH, ["default"])
#: Far marks stay behind the last two seconds; a worker that has something to do at depth is further behind.
SETTLED_SECONDS = 2.5


class Claims(Protocol):
    """Claims of one kind on one connection, one after the other."""

    def claim(self) -> int:
        """How many jobs it brought."""

    def text(self) -> str:
        """The next claim as one statement."""


class ByContract:
    """What any language calls."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def claim(self) -> int:
        return len(self._sql.execute(CONTRACT.encode()).fetchall())

    def text(self) -> str:
        return CONTRACT


class ByWorker:
    """What a worker calls; each claim begins at the place that the one before it names, or at the head."""

    def __init__(
        self, sql: Sql, ask: Callable[[Place], Operation[Haul]], onward: Callable[[Haul], Place | None]
    ) -> None:
        self._sql = sql
        self._ask = ask
        self._onward = onward
        self._place = Place()
        self._catalog = Catalog()

    def claim(self) -> int:
        haul = perform(self._sql, self._catalog, self._ask(self._place))
        self._place = self._onward(haul) or Place()
        return len(haul.jobs)

    def text(self) -> str:
        statement = next(self._ask(self._place))
        return psycopg.ClientCursor(self._sql).mogrify(self._catalog.text(statement.name), statement.parameters)


def carefully(place: Place) -> Operation[Haul]:
    return claim_carefully("w", ["mine"], DEMAND)


def from_place(place: Place) -> Operation[Haul]:
    return claim("w", ["mine"], DEMAND, place)


KINDS: dict[str, Callable[[Sql], Claims]] = {
    "claim_job_batch": ByContract,
    "claim_jobs": lambda sql: ByWorker(sql, carefully, lambda haul: None),
    "claim_from_marks, at the head": lambda sql: ByWorker(sql, from_place, lambda haul: None),
    "claim_from_marks, far marks": lambda sql: ByWorker(sql, from_place, lambda haul: haul.far),
    "claim_from_marks, near marks": lambda sql: ByWorker(sql, from_place, lambda haul: haul.near),
}


def connect(url: str) -> Sql:
    sql = psycopg.connect(url, autocommit=True)
    sql.execute("SET search_path TO howdah")
    return sql


def bury(sql: Sql) -> None:
    for start in range(0, MILLION, 100_000):
        sql.execute("INSERT INTO jobs (job_type) SELECT 'nobodys' FROM generate_series(1, 100000)")
        sql.execute(
            "INSERT INTO jobs (job_type, run_at)"
            " SELECT 'mine', now() + interval '30 days' FROM generate_series(1, 100000)"
        )
        print(f"inserted {2 * (start + 100_000):,}", flush=True)


def prepare(sql: Sql) -> None:
    many = BATCH * (ROUNDS + 10)
    sql.execute("INSERT INTO jobs (job_type) SELECT 'mine' FROM generate_series(1, %s)", (many,))
    sql.execute("VACUUM ANALYZE")
    sql.execute("CHECKPOINT")


def timed_claim(claims: Claims) -> float:
    begin = time.perf_counter()
    many = claims.claim()
    took = time.perf_counter() - begin
    assert many == BATCH
    return took


def measure(kind: str, deep: Sql, empty: Sql) -> None:
    for sql in (deep, empty):
        prepare(sql)
    time.sleep(SETTLED_SECONDS)
    beside, alone = KINDS[kind](deep), KINDS[kind](empty)
    times: dict[str, list[float]] = {"deep": [], "empty": []}
    for _ in range(ROUNDS):
        times["deep"].append(timed_claim(beside))
        times["empty"].append(timed_claim(alone))
    medians = {name: statistics.median(values) for name, values in times.items()}
    half = ROUNDS // 2
    noise = statistics.median(times["empty"][:half]) / statistics.median(times["empty"][half:])
    print(f"{kind}, {BATCH} jobs: {1000 * medians['deep']:.2f} ms beside 2,000,000 others")
    print(f"{kind}, {BATCH} jobs: {1000 * medians['empty']:.2f} ms with nothing beside it")
    print(
        f"{kind}: RATIO deep/empty {medians['deep'] / medians['empty']:.3f}; noise, empty/empty in halves {noise:.3f}"
    )


def look_at_plans(kind: str, url: str) -> None:
    """On a connection of its own: being explained costs time."""
    with connect(url) as sql:
        claims = KINDS[kind](sql)
        assert claims.claim() == BATCH
        sql.execute("LOAD 'auto_explain'")
        read = scans(explained(sql, claims.text()))
    for (relation, scan, rows), times in Counter(read).items():
        print(f"  {scan} on {relation}: {rows:.0f} rows" + (f", {times} times" if times > 1 else ""))
    assert "ready" in {relation for relation, _, _ in read}
    assert max(rows for _, _, rows in read) <= BATCH


def test_two_million_others_cost_a_claim_nothing(server: TestServer, database: Database) -> None:
    other = server.create_database()
    with connect(database.direct_url) as deep, connect(server.embedded.url(other)) as empty:
        bury(deep)
        for kind in KINDS:
            measure(kind, deep, empty)
            look_at_plans(kind, database.direct_url)
    server.drop_database(other)
