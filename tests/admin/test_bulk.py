"""Bulk operations: what they change and what they leave, in chunks, cancelled, killed and resumed, beside others."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from uuid import UUID, uuid4

import pytest

from howdah import Howdah
from howdah.admin import bulk, order_store
from howdah.admin.bulk import BulkOrder, NoSuchOperation
from howdah.admin.filter_text import parse_filter
from howdah.admin.filters import JobFilter
from howdah.admin.orders import BulkOperation, Change, Kind, State
from howdah.admin.views import Count
from howdah.model.errors import OptionError
from tests.admin.conftest import Put, Run, Sql
from tests.conftest import Database
from tests.rig.waiting import until

STATUSES = ("pending", "claimed", "running", "completed", "failed", "cancelled")
#: Change → how many of the jobs below it is for, and what some SQL says of them afterwards.
CHANGES = {
    Change(Kind.RETRY): (3, "status = 'pending' AND run_at IS NULL"),
    Change(Kind.CANCEL): (11, "status = 'cancelled' OR cancel_requested_at IS NOT NULL"),
    Change(Kind.DELETE): (9, "false"),
    Change(Kind.RUN_NOW): (2, "status = 'pending' AND run_at IS NULL"),
    Change(Kind.PRIORITY, 7): (11, "priority = 7"),
    Change(Kind.QUEUE, "elsewhere"): (11, "queue = 'elsewhere'"),
}


def count(sql: Sql, condition: str) -> int:
    row = sql.execute(f"SELECT count(*) FROM jobs WHERE {condition}".encode()).fetchone()
    assert row is not None
    return int(row[0])


def lines_are_right(sql: Sql) -> bool:
    """Whether the lines hold exactly the jobs that wait, each in its place."""
    row = sql.execute(
        "SELECT ARRAY(SELECT (lane_of(queue, job_type), ~priority, created_at, id)::text FROM jobs"
        " WHERE status = 'pending' AND attempts < max_attempts ORDER BY 1)"
        " = ARRAY(SELECT (lane, rank, created_at, id)::text FROM ready"
        " UNION ALL SELECT (lane, rank, created_at, id)::text FROM scheduled ORDER BY 1)"
    ).fetchone()
    return row == (True,)


def begun(run: Run, change: Change, wanted: JobFilter | list[UUID], who: str = "me@here") -> BulkOperation:
    operation = run(bulk.begin(BulkOrder(change, wanted, who)))
    assert isinstance(operation, BulkOperation)
    return operation


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.kind)
def test_over_a_filter(app: Howdah, run: Run, put: Put, sql: Sql, change: Change) -> None:
    for status in STATUSES:
        for job_type in ("wanted", "other"):
            put(3, status=status, job_type=job_type, worker_id=None if status == "pending" else "w")
    put(2, job_type="wanted", run_at="2999-01-01")
    fit, condition = CHANGES[change]
    others = sql.execute("SELECT j::text FROM jobs AS j WHERE job_type = 'other' ORDER BY id").fetchall()
    wanted = parse_filter("type=wanted")
    seen = run(bulk.preview(change, wanted))
    # Of those that wait, three are due already, and only the change itself knows.
    assert seen.count == Count(5 if change.kind is Kind.RUN_NOW else fit, exact=True)
    operation = begun(run, change, wanted)
    put(2, job_type="wanted")  # too late
    ended = bulk.carry_out(app.sessions, operation.id)
    assert (ended.state, ended.done, ended.error) == (State.DONE, fit, None)
    assert ended.skipped == (3 if change.kind is Kind.RUN_NOW else 0)
    if change.kind is Kind.DELETE:
        assert count(sql, "job_type = 'wanted'") == 20 + 2 - fit
    else:
        assert count(sql, f"job_type = 'wanted' AND ({condition})") >= fit
    assert count(sql, "job_type = 'wanted' AND created_at > now() - interval '1 hour' AND priority = 100") >= 2
    assert sql.execute("SELECT j::text FROM jobs AS j WHERE job_type = 'other' ORDER BY id").fetchall() == others
    assert lines_are_right(sql)


def test_the_filter_may_say_a_status(app: Howdah, run: Run, put: Put, sql: Sql) -> None:
    for status in STATUSES:
        put(2, status=status, worker_id=None if status == "pending" else "w")
    for text, fit in (("status=completed,running", 2), ("status=claimed", 0), ("type=a", 2), ("status=cancelled", 2)):
        seen = run(bulk.preview(Change(Kind.RETRY), parse_filter(text)))
        assert seen.count == Count(fit, exact=True), text
        ended = bulk.carry_out(app.sessions, begun(run, Change(Kind.RETRY), parse_filter(text)).id)
        assert (ended.state, ended.done) == (State.DONE, fit), text
    assert count(sql, "status = 'pending'") == 8


def test_over_a_selection(app: Howdah, run: Run, put: Put, sql: Sql) -> None:
    failed, running = put(3, status="failed"), put(1, status="running", worker_id="w")
    operation = begun(run, Change(Kind.RETRY), [*failed[:2], *running, uuid4(), failed[0]])
    assert (operation.filter, operation.estimate) == ("4 selected jobs", 4)
    ended = bulk.carry_out(app.sessions, operation.id)
    assert (ended.state, ended.done, ended.skipped) == (State.DONE, 2, 2)
    assert count(sql, "status = 'pending'") == 2
    for size in (0, bulk.SELECTION_LIMIT + 1):
        with pytest.raises(OptionError, match=f"^{size:,} jobs are selected"):
            begun(run, Change(Kind.RETRY), [uuid4() for _ in range(size)])


def test_only_those_that_were_there_when_it_began(app: Howdah, run: Run, put: Put, sql: Sql) -> None:
    before = put(3, status="failed")
    operation = begun(run, Change(Kind.RETRY), parse_filter("status=failed created>1h"))
    put(3, status="failed")
    put(1, status="failed", id=UUID(int=7))  # an id of its own, before all others
    assert bulk.carry_out(app.sessions, operation.id).done == 3
    assert count(sql, "status = 'failed'") == 4
    assert {row[0] for row in sql.execute("SELECT id FROM jobs WHERE status = 'pending'").fetchall()} == set(before)


def test_in_chunks_that_can_be_repeated(run: Run, put: Put) -> None:
    put(25, status="failed")
    operation = begun(run, Change(Kind.RETRY), parse_filter("status=failed"))
    first = run(bulk.advance(operation.id, 10))
    assert (first.done, first.state) == (10, State.RUNNING)
    # A reply was lost: the same step again, from a place where the operation no longer is.
    again = order_store.Step(operation.id, None, [uuid4()], None, True)
    assert run(order_store.step_operation(again, patient=True)) == first
    assert [run(bulk.advance(operation.id, 10)).done for _ in range(3)] == [20, 25, 25]
    assert run(bulk.get(operation.id)).state is State.DONE
    order = BulkOrder(Change(Kind.RETRY), JobFilter(), "me")
    assert run(bulk.begin(order)) == run(bulk.begin(order)), "an order that is repeated is one order"


def test_cancelled_it_does_nothing_more(run: Run, put: Put, sql: Sql) -> None:
    left = put(25, status="failed")[10:]
    operation = begun(run, Change(Kind.DELETE), parse_filter("status=failed"))
    run(bulk.advance(operation.id, 10))
    ended = run(bulk.cancel(operation.id, "boss"))
    assert (ended.state, ended.done) == (State.CANCELLED, 10)
    assert run(bulk.advance(operation.id, 10)) == ended
    assert run(bulk.cancel(operation.id, "again")) == ended
    # A step that was on its way when it was cancelled.
    late = order_store.Step(operation.id, ended.cursor, list(left), left[-1], True)
    assert run(order_store.step_operation(late, patient=True)) == ended
    assert count(sql, "status = 'failed'") == 15
    told = [(entry.who, entry.what, entry.jobs) for entry in run(order_store.list_audit())]
    assert told == [("boss", "bulk delete", 10), ("me@here", "bulk delete", None)]
    with pytest.raises(NoSuchOperation, match="No operation with that id"):
        run(bulk.get(uuid4()))


def test_a_filter_that_no_longer_reads_ends_it(app: Howdah, run: Run, sql: Sql) -> None:
    operation = begun(run, Change(Kind.DELETE), parse_filter("status=failed"))
    sql.execute("UPDATE operations SET filter = 'flavour=sweet'")
    ended = bulk.carry_out(app.sessions, operation.id)
    assert ended.state is State.FAILED
    assert "there is no field 'flavour'" in (ended.error or "")


def test_a_job_that_somebody_holds_for_long_is_left(app: Howdah, run: Run, put: Put, sql: Sql) -> None:
    made = put(5, status="failed")
    operation = begun(run, Change(Kind.RETRY), parse_filter("status=failed"))
    with sql.transaction():
        sql.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", (made[2],))
        ended = bulk.carry_out(app.sessions, operation.id)
    assert (ended.state, ended.done, ended.skipped) == (State.DONE, 4, 1)


PROGRAM = """
import sys
from uuid import UUID
from howdah import Howdah
from howdah.admin import bulk
app = Howdah(sys.argv[1])
while True:
    print(app.sessions.run(lambda: bulk.advance(UUID(sys.argv[2]), 10)).done, flush=True)
"""


def test_killed_midway_and_resumed(app: Howdah, run: Run, put: Put, sql: Sql, database: Database) -> None:
    put(2000, status="failed", attempts=3)
    operation = begun(run, Change(Kind.RETRY), parse_filter("status=failed"))
    command = [sys.executable, "-c", PROGRAM, database.url, str(operation.id)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) >= 100:
                process.kill()
                break
    until(lambda: not _steps_under_way(sql), "the server has noticed")
    left = run(bulk.get(operation.id))
    assert left.state is State.RUNNING
    assert 100 <= left.done < 2000
    assert count(sql, "status = 'pending'") == left.done, "what is on record is what was done"
    ended = bulk.carry_out(app.sessions, operation.id)
    assert (ended.state, ended.done, ended.skipped) == (State.DONE, 2000, 0)
    assert count(sql, "status = 'pending' AND max_attempts = 4") == 2000
    assert lines_are_right(sql)


def _steps_under_way(sql: Sql) -> bool:
    row = sql.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        " AND state <> 'idle' AND query LIKE '%step_operation%'"
    ).fetchone()
    return row != (0,)


def test_two_who_carry_it_out_do_nothing_twice(app: Howdah, run: Run, put: Put, sql: Sql) -> None:
    put(300, status="failed")
    operation = begun(run, Change(Kind.RETRY), parse_filter("status=failed"))

    def step(_: int) -> State:
        return app.sessions.run(partial(bulk.advance, operation.id, 10)).state

    with ThreadPoolExecutor(4) as threads:
        while State.RUNNING in threads.map(step, range(4)):
            pass
    ended = run(bulk.get(operation.id))
    assert (ended.state, ended.done) == (State.DONE, 300)
    assert len(run(order_store.list_audit())) == 2, "begun once, ended once"


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.kind)
def test_beside_workers_nothing_is_lost_and_nobody_waits_in_a_circle(
    app: Howdah, run: Run, put: Put, sql: Sql, database: Database, change: Change
) -> None:
    """Workers claim and finish by the batch functions while operations go over the same jobs."""
    put(600, max_attempts=100)
    put(200, status="failed", max_attempts=100)
    put(100, run_at="2999-01-01")
    over, ran = threading.Event(), Counter[str]()

    def work(name: str) -> None:
        with database.connect() as link:
            link.execute("SET deadlock_timeout = '50ms'")
            while not over.is_set():
                held = link.execute(
                    "SELECT id, lease FROM claim_jobs(%s, ARRAY['a'], 40, ARRAY['default', 'elsewhere'])", (name,)
                ).fetchall()
                ids, leases = [row[0] for row in held], [row[1] for row in held]
                words = ["retry" if n % 3 else "fail" for n in range(len(ids))]
                done = link.execute(
                    "SELECT status"
                    " FROM finish_jobs(%s::uuid[], %s::bigint[], %s::text[], '{}', %s::float8[], '{}', '{}')",
                    (ids, leases, words, [0.0] * len(ids)),
                ).fetchall()
                ran[name] += len(done)
                assert len(done) == len(held), "an operation takes no lease away"

    with ThreadPoolExecutor(2) as threads:
        workers = [threads.submit(work, name) for name in ("w1", "w2")]
        until(lambda: len(ran) == 2 or any(worker.done() for worker in workers), "both work")
        for _ in range(4):
            operation = begun(run, change, parse_filter("type=a"))
            while run(bulk.advance(operation.id, 50)).state is State.RUNNING:
                pass
            assert run(bulk.get(operation.id)).state is State.DONE
        over.set()
        for worker in workers:
            worker.result(30)
    assert sum(ran.values()) > 0
    sql.execute("SELECT count(*) FROM claim_jobs('w3', ARRAY['none'], 1)")
    assert lines_are_right(sql)
    assert count(sql, "status IN ('claimed', 'running')") == 0
    if change.kind is not Kind.DELETE:
        assert count(sql, "true") == 900
    row = sql.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").fetchone()
    assert row == (0,)


async def test_carried_out_in_async_code(app: Howdah, put: Put) -> None:
    put(3, status="failed")
    order = BulkOrder(Change(Kind.PRIORITY, 9), parse_filter("type=a"), "me")
    told: list[int] = []
    operation = await app.sessions.run_async(partial(bulk.begin, order))
    ended = await bulk.carry_out_async(app.sessions, operation.id, lambda step: told.append(step.done))
    assert (ended.state, ended.done, told) == (State.DONE, 0, [0])
    await app.aclose()
