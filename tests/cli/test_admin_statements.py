"""Each statement of sql/queries/admin with at least two values of every parameter, and the plans they promise."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

import psycopg
import pytest

from howdah import Howdah, Status
from howdah.admin import store
from howdah.admin.listing import list_jobs
from howdah.admin.views import JobFilter, JobLine, Lane, PauseKind
from howdah.db.op import Operation, Statement
from tests.conftest import Database

T = TypeVar("T")
Run = Callable[[Operation[Any]], Any]
HELD = (Status.CLAIMED, Status.RUNNING)
ANY, ANY_HELD = JobFilter(), JobFilter(HELD)


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


def ids(lines: list[JobLine] | None) -> list[UUID]:
    assert lines is not None
    return [line.id for line in lines]


def test_list_ledger(run: Run, fill: Fill) -> None:
    done = fill(3, "completed", "a", "q", "w1")
    failed = fill(2, "failed", "b", "r", "w2")
    everything = failed + done

    def listed(wanted: JobFilter = ANY, before: UUID | None = None, limit: int = 9, look: int = 9) -> list[UUID]:
        return ids(run(store.list_ledger(wanted, before, limit, look)))

    assert listed() == everything
    assert listed(limit=2) == everything[:2]
    assert listed(look=4) == everything[:4]
    assert listed(before=everything[0]) == everything[1:]
    assert listed(before=everything[3]) == everything[4:]
    for this, that in [
        (JobFilter((Status.COMPLETED,)), JobFilter((Status.FAILED,))),
        (JobFilter(job_type="a"), JobFilter(job_type="b")),
        (JobFilter(queue="q"), JobFilter(queue="r")),
        (JobFilter(worker_id="w1"), JobFilter(worker_id="w2")),
    ]:
        assert (listed(this), listed(that)) == (done, failed)
    assert listed(JobFilter((Status.COMPLETED, Status.FAILED))) == everything
    assert listed(JobFilter(job_type="a"), look=4) == done[:2], "the search ends where it was told to"


def test_find_search_end(run: Run, fill: Fill) -> None:
    made = fill(5, "completed")
    assert run(store.find_search_end(None, 1)) == made[0]
    assert run(store.find_search_end(None, 5)) == made[4]
    assert run(store.find_search_end(None, 6)) is None
    assert run(store.find_search_end(made[1], 2)) == made[3]
    assert run(store.find_search_end(made[3], 2)) is None


def test_list_waiting(run: Run, sql: psycopg.Connection[Any], fill: Fill) -> None:
    first, second = fill(3, job_type="a", queue="q"), fill(2, job_type="b", queue="r")
    fill(2, "completed")
    everything = second + first
    sql.execute("UPDATE jobs SET run_at = now() + interval '1 hour' WHERE id = %s", (everything[1],))

    def listed(wanted: JobFilter = ANY, before: UUID | None = None, limit: int = 9, most: int = 9) -> list[UUID] | None:
        lines = run(store.list_waiting(wanted, before, limit, most))
        return None if lines is None else ids(lines)

    assert listed() == everything
    assert listed(limit=2) == everything[:2]
    assert listed(before=everything[0]) == everything[1:]
    assert listed(before=everything[3]) == everything[4:]
    assert (listed(JobFilter(job_type="a")), listed(JobFilter(job_type="b"))) == (first, second)
    assert (listed(JobFilter(queue="q")), listed(JobFilter(queue="r"))) == (first, second)
    assert listed(JobFilter(queue="s")) == []
    assert listed(most=3) is None
    assert listed(most=4) == everything
    # A row of the line that is no longer true is not believed.
    sql.execute("INSERT INTO ready SELECT lane_of('q', 'a'), 0, now(), id FROM jobs WHERE status = 'completed'")
    assert listed() == everything


def test_list_held(run: Run, fill: Fill) -> None:
    running = fill(3, "running", "a", "q", "w1")
    claimed = fill(2, "claimed", "b", "r", "w2")
    everything = claimed + running

    def listed(
        wanted: JobFilter = ANY_HELD, before: UUID | None = None, limit: int = 9, most: int = 9
    ) -> list[UUID] | None:
        lines = run(store.list_held(wanted, before, limit, most))
        return None if lines is None else ids(lines)

    assert listed() == everything
    assert listed(limit=2) == everything[:2]
    assert listed(before=everything[0]) == everything[1:]
    assert listed(before=everything[3]) == everything[4:]
    for this, that in [
        (JobFilter((Status.RUNNING,)), JobFilter((Status.CLAIMED,))),
        (JobFilter(HELD, job_type="a"), JobFilter(HELD, job_type="b")),
        (JobFilter(HELD, queue="q"), JobFilter(HELD, queue="r")),
        (JobFilter(HELD, worker_id="w1"), JobFilter(HELD, worker_id="w2")),
    ]:
        assert (listed(this), listed(that)) == (running, claimed)
    assert listed(most=4) is None
    assert listed(most=5) == everything


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
    fill(3, job_type="a", queue="q")
    sql.execute(
        "SELECT enqueue_job('b', p_queue => 'r', p_run_at => now() + interval '1 hour') FROM generate_series(1, 2)"
    )
    sql.execute("INSERT INTO lanes SELECT * FROM lanes", ())
    sql.execute("SELECT register_worker(n, '1 hour', '{q}', '{a,b}', '{}') FROM unnest('{w1,w2}'::text[]) AS n")
    sql.execute("SELECT pause('queue', 'q'), pause('type', 'b')")
    assert run(store.list_lanes(10)) == [
        Lane("q", "a", 3, False, 0, False, queue_paused=True, type_paused=False, live_workers=2),
        Lane("r", "b", 0, False, 2, False, queue_paused=False, type_paused=True, live_workers=0),
    ]
    short = run(store.list_lanes(1))
    assert [(lane.ready, lane.ready_capped) for lane in short] == [(1, True), (0, False)]
    assert short[1].scheduled_capped
    assert [lane.ready_capped for lane in run(store.list_lanes(3))] == [False, False]
    sql.execute("SELECT register_worker('w3', '1 hour', '{idle}', '{a}', '{}'), pause('queue', 'idle')")
    assert run(store.list_lanes(10))[0] == Lane("idle", None, 0, False, 0, False, True, False, live_workers=1)


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


def test_list_jobs_looks_where_they_are_found_fastest(run: Run, fill: Fill) -> None:
    old, new = fill(3), fill(5, "completed")
    pending, failed = JobFilter((Status.PENDING,)), JobFilter((Status.FAILED,))
    assert ids(run(list_jobs(pending, look=4)).jobs) == old, "from the line, however far down the ledger"
    capped = run(list_jobs(pending, look=6, most=2))
    assert (ids(capped.jobs), capped.searched_to) == (old[:1], old[0])
    assert run(list_jobs(failed, look=4)).searched_to == new[3]
    assert run(list_jobs(failed, look=9)).searched_to is None
    assert run(list_jobs(failed, before=new[3], look=2)).searched_to == old[0]
    assert ids(run(list_jobs(JobFilter(), limit=3)).jobs) == new[:3]


@pytest.mark.parametrize(
    "operation",
    [
        partial(store.list_ledger, JobFilter((Status.FAILED,)), None, 20, 1000),
        partial(store.find_search_end, None, 1000),
        partial(store.list_waiting, JobFilter(), None, 20, 1000),
        partial(store.list_held, JobFilter(HELD), None, 20, 1000),
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
