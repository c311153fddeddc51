"""Many claimers, one line: exactly once, in order, and blind to what is not theirs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import Any

import psycopg

from tests.conftest import Database
from tests.rig.processes import ROOT

Sql = psycopg.Connection[Any]
JOBS = 50_000
CLAIMER = """
import json, sys, psycopg
url, name = sys.argv[1:]
claimed = []
with psycopg.connect(url, autocommit=True, options="-c search_path=howdah") as connection:
    sys.stdin.readline()
    while True:
        rows = connection.execute(
            "SELECT id::text FROM claim_job_batch(%s, ARRAY['a', 'b', 'c'], 37)", (name,)
        ).fetchall()
        if not rows:
            break
        claimed += [row[0] for row in rows]
print(json.dumps(claimed))
"""


def fill(sql: Sql, many: int) -> None:
    sql.execute(
        "INSERT INTO jobs (job_type, priority, created_at)"
        " SELECT (ARRAY['a', 'b', 'c'])[1 + n %% 3], (ARRAY[150, 100, 30])[1 + (n / 3) %% 3],"
        " now() - (hashint4(n) %% 1000) * interval '1 second' FROM generate_series(1, %s) AS n",
        (many,),
    )


def test_eight_processes_claim_fifty_thousand_jobs_exactly_once(database: Database, sql: Sql) -> None:
    fill(sql, JOBS)
    claimers = [
        subprocess.Popen(
            [sys.executable, "-c", CLAIMER, database.direct_url, f"claimer-{n}"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(8)
    ]
    for claimer in claimers:
        assert claimer.stdin is not None
        claimer.stdin.write("go\n")
        claimer.stdin.flush()
    taken = [json.loads(claimer.communicate(timeout=110)[0]) for claimer in claimers]
    times = Counter(job_id for share in taken for job_id in share)
    assert len(times) == JOBS
    assert set(times.values()) == {1}
    assert sum(1 for share in taken if share) >= 2, "one claimer did all the work: nothing was contended"
    rows = sql.execute("SELECT status, attempts, count(*) FROM jobs GROUP BY 1, 2").fetchall()
    assert rows == [("claimed", 1, JOBS)]
    assert sql.execute("SELECT count(*) FROM ready").fetchone() == (0,)


def test_one_claimer_gets_exactly_priority_then_age(sql: Sql) -> None:
    fill(sql, 5_000)
    expected = [row[0] for row in sql.execute("SELECT id FROM jobs ORDER BY priority DESC, created_at, id").fetchall()]
    got: list[Any] = []
    while rows := sql.execute("SELECT id FROM claim_job_batch('w', ARRAY['a', 'b', 'c'], 333)").fetchall():
        got += [row[0] for row in rows]
    assert got == expected


def explained(sql: Sql, claim: str) -> list[dict[str, Any]]:
    """Every plan that ran inside the claim, as auto_explain saw it, with actual row counts."""
    plans: list[dict[str, Any]] = []

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        message = notice.message_primary or ""
        if "plan:" in message:
            plans.append(json.loads(message.split("plan:", 1)[1]))

    sql.add_notice_handler(hear)
    for setting in ("log_min_duration = 0", "log_nested_statements = on", "log_analyze = on", "log_format = json"):
        sql.execute(f"SET auto_explain.{setting}".encode())
    sql.execute("SET auto_explain.log_level = notice")
    sql.execute(claim.encode())
    sql.execute("SET auto_explain.log_min_duration = -1")
    sql.remove_notice_handler(hear)
    return plans


def scans(plan: Any) -> list[tuple[str, str, float]]:
    """(relation, kind of scan, rows read and thrown away or kept) of every node below."""
    found = []
    if isinstance(plan, dict):
        if plan.get("Relation Name") and "Scan" in plan.get("Node Type", ""):
            loops = plan.get("Actual Loops", 1)
            read = (plan.get("Actual Rows", 0) + plan.get("Rows Removed by Filter", 0)) * loops
            found.append((plan["Relation Name"], plan["Node Type"], read))
        for below in plan.values():
            found += scans(below)
    elif isinstance(plan, list):
        for below in plan:
            found += scans(below)
    return found


def test_the_plan_of_a_claim_reads_only_its_own_lane(sql: Sql) -> None:
    """With others' backlog and a far future in every table, at sizes at which a planner would be tempted."""
    others = 20_000
    sql.execute("INSERT INTO jobs (job_type) SELECT 'nobodys' FROM generate_series(1, %s)", (others,))
    sql.execute(
        "INSERT INTO jobs (job_type, run_at) SELECT 'mine', now() + interval '30 days' FROM generate_series(1, %s)",
        (others,),
    )
    sql.execute("INSERT INTO jobs (job_type) SELECT 'mine' FROM generate_series(1, 300)")
    sql.execute("LOAD 'auto_explain'")
    for analyzed in (False, True):
        if analyzed:
            sql.execute("ANALYZE")
        plans = explained(sql, "SELECT count(*) FROM claim_job_batch('w', ARRAY['mine'], 100)")
        read = scans(plans)
        assert {"ready", "lanes"} <= {relation for relation, _, _ in read}
        assert not [scan for scan in read if scan[1] == "Seq Scan" and scan[0] in ("ready", "scheduled", "jobs")]
        for relation, kind, rows in read:
            assert rows <= 100, f"{kind} on {relation} read {rows} rows for a claim of 100"
