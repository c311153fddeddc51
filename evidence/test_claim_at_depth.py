"""A claim beside a million jobs scheduled for later and a million pending of a type that nobody serves.

Prints the ratio of its time to that on otherwise empty tables, measured in turns in one run, and shows from the plans
that it reads neither million.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import psycopg

from tests.conftest import Database
from tests.rig.servers import TestServer
from tests.system.test_claiming import explained, scans

MILLION = 1_000_000
ROUNDS = 300
CLAIM = b"SELECT id FROM claim_job_batch('w', ARRAY['mine'], 100)"


def prepare(sql: psycopg.Connection[Any]) -> None:
    sql.execute(b"SET search_path TO howdah")
    sql.execute(b"INSERT INTO jobs (job_type) SELECT 'mine' FROM generate_series(1, 60000)")


def timed_claim(sql: psycopg.Connection[Any]) -> float:
    begin = time.perf_counter()
    rows = sql.execute(CLAIM).fetchall()
    took = time.perf_counter() - begin
    assert len(rows) == 100
    return took


def test_two_million_others_cost_a_claim_nothing(server: TestServer, database: Database) -> None:
    other = server.create_database()
    deep = psycopg.connect(database.direct_url, autocommit=True)
    empty = psycopg.connect(server.embedded.url(other), autocommit=True)
    for sql in (deep, empty):
        sql.execute(b"SET search_path TO howdah")
    for start in range(0, MILLION, 100_000):
        deep.execute("INSERT INTO jobs (job_type) SELECT 'nobodys' FROM generate_series(1, 100000)")
        deep.execute(
            "INSERT INTO jobs (job_type, run_at)"
            " SELECT 'mine', now() + interval '30 days' FROM generate_series(1, 100000)"
        )
        print(f"inserted {2 * (start + 100_000):,}", flush=True)
    for sql in (deep, empty):
        prepare(sql)
        sql.execute("VACUUM ANALYZE")
        sql.execute("CHECKPOINT")
    times: dict[str, list[float]] = {"deep": [], "empty": []}
    for _ in range(ROUNDS):
        times["deep"].append(timed_claim(deep))
        times["empty"].append(timed_claim(empty))
    medians = {name: statistics.median(values) for name, values in times.items()}
    halves = [statistics.median(times["empty"][:150]) / statistics.median(times["empty"][150:])]
    deep.execute("LOAD 'auto_explain'")
    read = scans(explained(deep, CLAIM.decode()))
    for relation, kind, rows in read:
        print(f"  {kind} on {relation}: {rows:.0f} rows")
    print(f"claim of 100: {1000 * medians['deep']:.2f} ms beside 2,000,000 others")
    print(f"claim of 100: {1000 * medians['empty']:.2f} ms with nothing beside it")
    print(f"RATIO deep/empty {medians['deep'] / medians['empty']:.3f}; noise, empty/empty in halves {halves[0]:.3f}")
    assert max(rows for _, _, rows in read) <= 100
    empty.close()
    deep.close()
    server.drop_database(other)
