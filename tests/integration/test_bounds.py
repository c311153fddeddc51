"""A batch looks only into the partitions that its ids can be in, however many months of history there are."""

from __future__ import annotations

from howdah.db.catalog import Catalog
from howdah.db.op import perform
from howdah.worker.store import Demand, claim_carefully
from tests.integration.test_contract import insert
from tests.integration.test_marks import Sql, claim_from


def looked_into(sql: Sql) -> dict[str, int]:
    """How often each partition's index was searched so far."""
    sql.execute("SELECT pg_stat_force_next_flush()")
    sql.execute("SELECT pg_stat_clear_snapshot()")
    rows = sql.execute(
        "SELECT s.relname, s.idx_scan FROM pg_stat_user_indexes AS s JOIN pg_inherits AS i ON i.inhrelid = s.relid"
        " WHERE i.inhparent = 'jobs'::regclass"
    )
    return dict(rows.fetchall())


def test_a_batch_looks_only_into_its_own_partitions(sql: Sql) -> None:
    home = {insert(sql, job_type="plain") for _ in range(20)}
    partitions = {
        row[0]
        for row in sql.execute("SELECT DISTINCT tableoid::regclass::text FROM jobs WHERE id = ANY (%s)", [list(home)])
    }
    before = looked_into(sql)
    assert len(before) > len(partitions)

    claimed = claim_from(sql, batch=20)
    assert searched(before, looked_into(sql)) == partitions
    assert set(claimed.ids) == home

    leases = [row[0] for row in sql.execute("SELECT lease FROM jobs WHERE id = ANY (%s) ORDER BY id", [claimed.ids])]
    before = looked_into(sql)
    refused = sql.execute(
        "SELECT complete_jobs(%s, %s, NULL, %s, NULL)", [sorted(claimed.ids), leases, [0.0] * len(leases)]
    ).fetchone()
    assert refused == ([],)
    assert searched(before, looked_into(sql)) == partitions


def searched(before: dict[str, int], after: dict[str, int]) -> set[str]:
    return {name.split(".")[-1] for name in after if after[name] > before[name]}


def test_a_careful_claim_asks_once_when_something_is_due(sql: Sql) -> None:
    for _ in range(20):
        insert(sql, job_type="plain")
    sql.execute("INSERT INTO jobs (job_type, run_at) VALUES ('later', now() + interval '1 hour')")

    def searches() -> int:
        sql.execute("SELECT pg_stat_force_next_flush()")
        sql.execute("SELECT pg_stat_clear_snapshot()")
        row = sql.execute("SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'scheduled_order'").fetchone()
        assert row is not None
        return int(row[0])

    before = searches()
    haul = perform(sql, Catalog(), claim_carefully("w", ["plain"], Demand(20, ["default"])))
    assert len(haul.jobs) == 20
    assert searches() - before < 5
