"""Each statement of sql/queries/admin with at least two values of every parameter, and the plans they promise."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

import psycopg
import pytest

from howdah import Howdah, Status
from howdah.admin import store
from howdah.admin.filters import JobFilter
from howdah.admin.views import Lane, PauseKind, Recent
from howdah.db.op import Operation, Statement
from tests.conftest import Database

T = TypeVar("T")
Run = Callable[[Operation[Any]], Any]
NOW = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
def run(app: Howdah) -> Run:
    return lambda operation: app.sessions.run(lambda: operation, repeatable=False)


@pytest.fixture
def fill(sql: psycopg.Connection[Any]) -> Callable[..., list[UUID]]:
    """Write jobs by plain SQL; their ids, newest first."""

    def write(
        count: int, status: str = "pending", job_type: str = "a", queue: str = "q", worker: str = "w"
    ) -> list[UUID]:
        held_by = None if status == "pending" else worker
        rows = sql.execute(
            "INSERT INTO jobs (job_type, queue, status, worker_id) SELECT %s, %s, %s, %s FROM generate_series(1, %s) "
            "RETURNING id",
            (job_type, queue, status, held_by, count),
        ).fetchall()
        return sorted((row[0] for row in rows), reverse=True)

    return write


Fill = Callable[..., list[UUID]]


def test_count_jobs(run: Run, fill: Fill) -> None:
    made = {"pending": 4, "claimed": 1, "running": 2, "completed": 3, "failed": 1}
    for status, count in made.items():
        fill(count, status)

    def counted(most: int, newest: int) -> dict[str, tuple[int, bool]]:
        return {str(line.status): (line.jobs, line.capped) for line in run(store.count_jobs(most, newest))}

    assert counted(10, 11) == {**{status: (count, False) for status, count in made.items()}, "cancelled": (0, False)}
    assert counted(2, 11)["pending"] == (2, True)
    assert counted(3, 11)["running"] == (2, False)
    assert counted(2, 11)["running"][1] is True
    assert counted(10, 2)["failed"] == (1, True)
    assert counted(10, 2)["completed"] == (1, True), "no more are counted than the newest two"
    assert counted(10, 10)["completed"] == (3, True)


def test_list_lanes(run: Run, sql: psycopg.Connection[Any], fill: Fill) -> None:
    waiting = fill(3, job_type="a", queue="q")
    sql.execute(
        "SELECT enqueue_job('b', p_queue => 'r', p_run_at => now() + interval '1 hour') FROM generate_series(1, 2)"
    )
    sql.execute("INSERT INTO lanes SELECT * FROM lanes", ())
    sql.execute("SELECT register_worker(n, '1 hour', '{q}', '{a,b}', '{}') FROM unnest('{w1,w2}'::text[]) AS n")
    sql.execute("SELECT pause('queue', 'q'), pause('type', 'b')")
    sql.execute("UPDATE jobs SET priority = 5, created_at = '2020-01-01' WHERE id = %s", (waiting[0],))
    first = datetime(2020, 1, 1, tzinfo=UTC)
    assert run(store.list_lanes(10)) == [
        Lane("q", "a", 3, False, 0, False, queue_paused=True, type_paused=False, live_workers=2, oldest_at=first),
        Lane("r", "b", 0, False, 2, False, queue_paused=False, type_paused=True, live_workers=0, oldest_at=None),
    ]
    short = run(store.list_lanes(1))
    assert [(lane.ready, lane.ready_capped) for lane in short] == [(1, True), (0, False)]
    assert short[1].scheduled_capped
    assert [lane.ready_capped for lane in run(store.list_lanes(3))] == [False, False]
    sql.execute("SELECT register_worker('w3', '1 hour', '{idle}', '{a}', '{}'), pause('queue', 'idle')")
    assert run(store.list_lanes(10))[0] == Lane("idle", None, 0, False, 0, False, True, False, live_workers=1)


def test_count_recent(run: Run, sql: psycopg.Connection[Any], fill: Fill) -> None:
    for status, count in {"completed": 3, "failed": 2, "cancelled": 1, "pending": 2}.items():
        fill(count, status)
    sql.execute("UPDATE jobs SET completed_at = now() WHERE status IN ('completed', 'failed', 'cancelled')")
    assert run(store.count_recent(9)) == Recent(8, 3, 2, 1, None)
    few = run(store.count_recent(2))
    assert (few.created, few.completed) == (2, 0)
    assert few.covered is not None
    assert few.per_second(few.created) == 2, "never over less than a second"
    sql.execute("UPDATE jobs SET completed_at = now() - interval '2 minutes'")
    sql.execute("UPDATE jobs SET created_at = now() - interval '30 seconds'")
    seen = run(store.count_recent(8))
    assert (seen.completed, seen.failed) == (0, 0)
    assert 29 < seen.covered < 60
    assert 8 / 60 < seen.per_second(seen.created) < 8 / 29


def test_list_workers(run: Run, sql: psycopg.Connection[Any], fill: Fill) -> None:
    fill(3)
    sql.execute("SELECT register_worker('w1', '1 hour', '{q}', '{a}', '{\"pid\": 7}')")
    sql.execute("SELECT register_worker('w2', '1 second', '{r}', '{b}', '{}')")
    sql.execute("SELECT register_worker('w3', '1 second', '{r}', '{b}', '{}')")
    sql.execute("UPDATE workers SET heartbeat_at = now() - interval '5 seconds' WHERE id = 'w2'")
    # Gone for good, and nothing is in its hands.
    sql.execute("UPDATE workers SET heartbeat_at = now() - interval '1 minute' WHERE id = 'w3'")
    sql.execute("SELECT claim_job_batch('w1', '{a}', 3)")
    sql.execute("UPDATE jobs SET status = 'completed' WHERE id = (SELECT id FROM jobs ORDER BY id LIMIT 1)")
    alive, silent = run(store.list_workers(10))
    assert (alive.id, alive.alive, alive.queues, alive.job_types, alive.info, alive.jobs) == (
        *("w1", True, ["q"], ["a"]),
        *({"pid": 7}, 2),
    )
    assert (silent.id, silent.alive, silent.jobs) == ("w2", False, 0)
    assert run(store.list_workers(1))[0].jobs <= 1


@pytest.mark.parametrize(("kind", "name"), [(PauseKind.QUEUE, "emails"), (PauseKind.TYPE, "encode")])
def test_pause_resume_and_list_pauses(run: Run, kind: PauseKind, name: str) -> None:
    assert [run(store.pause(kind, name)), run(store.pause(kind, name))] == [True, False]
    assert [(pause.kind, pause.name) for pause in run(store.list_pauses())] == [(kind, name)]
    assert [run(store.resume(kind, name)), run(store.resume(kind, name))] == [True, False]
    assert run(store.list_pauses()) == []


def test_list_unknown_types(run: Run, sql: psycopg.Connection[Any]) -> None:
    sql.execute("SELECT register_worker('w1', '1 hour', '{q}', '{a,b}', '{}')")
    sql.execute("SELECT register_worker('w2', '1 second', '{q}', '{c}', '{}')")
    sql.execute("UPDATE workers SET heartbeat_at = now() - interval '1 minute' WHERE id = 'w2'")
    assert run(store.list_unknown_types(["a", "c", "d"])) == {"c", "d"}
    assert run(store.list_unknown_types(["b"])) == set()


def test_is_served(run: Run, sql: psycopg.Connection[Any]) -> None:
    assert run(store.is_served()) is False
    sql.execute("SELECT register_worker('w1', '1 second', '{q}', '{a}', '{}')")
    sql.execute("UPDATE workers SET heartbeat_at = now() - interval '1 minute'")
    assert run(store.is_served()) is False
    sql.execute("SELECT register_worker('w2', '1 hour', '{r}', '{b}', '{}')")
    assert run(store.is_served()) is True
    assert [run(store.is_served(job_type)) for job_type in ("a", "b")] == [False, True]
    assert [run(store.is_served("b", queue)) for queue in ("q", "r")] == [False, True]


def test_is_known(run: Run, sql: psycopg.Connection[Any], fill: Fill) -> None:
    fill(1, "completed", "a", "q")
    sql.execute("SELECT register_worker('w', '1 second', '{r}', '{b}', '{}')")
    assert [run(store.is_known(PauseKind.QUEUE, name)) for name in ("q", "r", "a", "b")] == [True, True, False, False]
    assert [run(store.is_known(PauseKind.TYPE, name)) for name in ("q", "r", "a", "b")] == [False, False, True, True]


def test_is_read_only(run: Run, make_app: Callable[..., Howdah], database: Database) -> None:
    assert run(store.is_read_only()) is False
    with database.connect() as connection:
        connection.execute(f"ALTER DATABASE {database.name} SET default_transaction_read_only = on".encode())
    assert make_app().sessions.run(store.is_read_only) is True


@pytest.mark.parametrize(
    "operation",
    [
        partial(store.find_ids, JobFilter((Status.FAILED,)), NOW, store.Window(), 20, 1000),
        partial(store.find_ids, JobFilter(error="x"), NOW, store.Window(), 20, 1000),
        partial(store.list_waiting_ids, JobFilter(), 1000),
        partial(store.list_held_ids, JobFilter(), 1000),
        partial(store.count_recent, 1000),
        partial(store.count_jobs, 1000, 1000),
        partial(store.list_lanes, 1000),
        partial(store.list_workers, 1000),
    ],
    ids=lambda operation: operation.func.__name__,
)
def test_no_statement_reads_the_ledger_through(
    app: Howdah, sql: psycopg.Connection[Any], fill: Fill, operation: Callable[[], Operation[Any]]
) -> None:
    fill(30_000, "completed")
    fill(50)
    fill(50, "running")
    sql.execute("ANALYZE jobs")
    statement: Statement = next(operation())
    query = b"EXPLAIN (ANALYZE, FORMAT JSON) " + app.catalog.text(statement.name)
    row = sql.execute(query, statement.parameters).fetchone()
    assert row is not None
    assert rows_read(row[0][0]["Plan"]) < 5000


def rows_read(node: dict[str, Any]) -> float:
    """Rows that the plan's scans of jobs touched."""
    own = 0.0
    if str(node.get("Relation Name", "")).startswith("jobs"):
        own = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
    return own + sum(rows_read(child) for child in node.get("Plans", []))
