"""Orders for single jobs, and the audit: everything that changes something is put on record, with who and what."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from howdah import Howdah
from howdah.admin import actions, order_store
from howdah.admin.orders import Answer, Change, Kind, local_who
from howdah.admin.views import PauseKind
from howdah.maintenance import store as chores
from howdah.model.errors import JobBusy, OptionError
from tests.admin.conftest import Put, Run, Sql
from tests.conftest import Database
from tests.rig.waiting import until

STATUSES = ("pending", "claimed", "running", "completed", "failed", "cancelled")
LATER = "2999-01-01"


def answers(**by_status: str | None) -> dict[str, tuple[str, bool]]:
    """What is answered for a job of each status; those not named are left as they are."""
    return {
        status: (changed, True) if (changed := by_status.get(status)) is not None else (status, False)
        for status in STATUSES
    }


ENDED_RUN_AGAIN = dict.fromkeys(("pending", "completed", "failed", "cancelled"), "pending")
CASES = [
    (Change(Kind.RETRY), answers(**ENDED_RUN_AGAIN)),
    (Change(Kind.CANCEL), answers(pending="cancelled", claimed="requested", running="requested")),
    (Change(Kind.DELETE), answers(completed="deleted", failed="deleted", cancelled="deleted")),
    (Change(Kind.RUN_NOW), answers(pending="pending")),
    (Change(Kind.PRIORITY, 7), answers(pending="pending", claimed="claimed", running="running")),
    (Change(Kind.QUEUE, "q"), answers(pending="pending", claimed="claimed", running="running")),
]


@pytest.mark.parametrize(("change", "expected"), CASES, ids=lambda case: getattr(case, "kind", ""))
def test_an_order_for_a_job_of_every_status(
    run: Run, put: Put, change: Change, expected: dict[str, tuple[str, bool]]
) -> None:
    ids: list[UUID] = []
    for status in STATUSES:
        waits: dict[str, Any] = {"run_at": LATER} if status == "pending" else {"worker_id": "w"}
        ids += put(1, status=status, **waits)
    told = run(actions.order(change, [*ids, uuid4()], "me@here"))
    assert told == [Answer(one, *expected[status]) for one, status in zip(ids, STATUSES, strict=True)]
    (entry,) = run(order_store.list_audit())
    assert (entry.who, entry.what, entry.target) == ("me@here", change.kind, "7 jobs")
    assert entry.jobs == sum(changed for _, changed in expected.values())
    assert entry.login == "howdah"
    assert entry.details["argument"] == change.argument
    assert entry.details["ids"][:6] == [str(one) for one in ids]
    # Once more: what is as wished is left, and an order that changes nothing is not put on record.
    if change.kind in (Kind.PRIORITY, Kind.QUEUE, Kind.DELETE, Kind.RUN_NOW):
        assert not any(answer.changed for answer in run(actions.order(change, ids, "me@here")))
        assert len(run(order_store.list_audit())) == 1


def test_retry_starts_afresh(run: Run, put: Put, sql: Sql) -> None:
    (job,) = put(
        1, status="failed", attempts=3, deaths=3, errors=2, progress=40, current_stage="half", last_error="poison: x"
    )
    run(actions.order(Change(Kind.RETRY), [job], "me"))
    row = sql.execute(
        "SELECT status, attempts, max_attempts, deaths, errors, progress, current_stage, last_error FROM jobs"
    ).fetchone()
    assert row == ("pending", 3, 4, 0, 2, 0, None, "poison: x")
    assert len(sql.execute("SELECT * FROM claim_jobs('w', ARRAY['a'], 5)").fetchall()) == 1


def test_run_now_is_for_what_waits_for_its_time(run: Run, put: Put, sql: Sql) -> None:
    (later,), (now,), (used_up,) = put(1, run_at=LATER), put(1), put(1, run_at=LATER, attempts=3)
    told = run(actions.order(Change(Kind.RUN_NOW), [later, now, used_up], "me"))
    assert [answer.changed for answer in told] == [True, False, True]
    assert {row[0] for row in sql.execute("SELECT id FROM claim_jobs('w', ARRAY['a'], 5)").fetchall()} == {later, now}


def test_a_job_that_somebody_holds(run: Run, put: Put, sql: Sql) -> None:
    held, free = put(2)
    with sql.transaction():
        sql.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", (held,))
        with pytest.raises(JobBusy, match="nothing was done"):
            run(actions.order(Change(Kind.CANCEL), [held, free], "me"))
    assert sql.execute("SELECT count(*) FROM jobs WHERE status = 'pending'").fetchone() == (2,)
    assert run(order_store.list_audit()) == []


def test_jobs_are_locked_by_id(app: Howdah, put: Put, sql: Sql, database: Database) -> None:
    """As all batch writers do, whatever the order in which they are named: or two could wait for each other."""
    made = sorted(put(5))
    with ThreadPoolExecutor(1) as threads, database.connect() as other:
        with other.transaction():
            other.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", (made[2],))
            named = [made[n] for n in (4, 1, 3, 0, 2)]
            ordered = threads.submit(app.sessions.run, lambda: actions.order(Change(Kind.PRIORITY, 7), named, "me"))
            until(lambda: _waits(sql), "the order waits for the job in the middle")
            free = sql.execute("SELECT id FROM jobs FOR UPDATE SKIP LOCKED").fetchall()
        assert {row[0] for row in free} == set(made[3:])
        assert [answer.job_id for answer in ordered.result(30)] == named


def _waits(sql: Sql) -> bool:
    row = sql.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    ).fetchone()
    return row == (1,)


def test_orders_that_make_no_sense(run: Run) -> None:
    for kind, value, words in [
        (Kind.PRIORITY, None, "must be a whole number"),
        (Kind.PRIORITY, 2**31, "out of range"),
        (Kind.PRIORITY, "high", "must be a whole number"),
        (Kind.QUEUE, "", "1 to 50"),
        (Kind.QUEUE, 5, "must be a string"),
        (Kind.CANCEL, 5, "cancel takes no value"),
    ]:
        with pytest.raises(OptionError, match=words):
            Change(kind, value)
    with pytest.raises(OptionError, match="0 jobs are named"):
        run(actions.order(Change(Kind.CANCEL), [], "me"))
    for who in ("", "w" * 201, "nul\0"):
        with pytest.raises(OptionError, match="the name of who gives the order"):
            run(actions.order(Change(Kind.CANCEL), [uuid4()], who))


@pytest.mark.parametrize(
    "call",
    [
        "administer_jobs('paint', '{}', NULL, 'me')",
        "administer_jobs(NULL, '{}', NULL, 'me')",
        "administer_jobs('priority', '{}', NULL, 'me')",
        "administer_jobs('priority', '{}', 'high', 'me')",
        "administer_jobs('queue', '{}', '', 'me')",
        "administer_jobs('cancel', '{}', '5', 'me')",
        "begin_operation(new_job_id(), 'paint', '', NULL, NULL, 'me', 0)",
        "begin_operation(new_job_id(), 'retry', '', NULL, NULL, '', 0)",
    ],
)
def test_the_database_refuses_them_too(sql: Sql, call: str) -> None:
    with pytest.raises((psycopg.DataError, psycopg.IntegrityError)):
        sql.execute(f"SELECT {call}".encode())
    assert sql.execute("SELECT count(*) FROM audit").fetchone() == (0,)
    assert sql.execute("SELECT count(*) FROM operations").fetchone() == (0,)


def test_pauses_are_put_on_record(run: Run) -> None:
    for kind, name in ((PauseKind.QUEUE, "emails"), (PauseKind.TYPE, "encode")):
        told = [run(order_store.set_pause(kind, name, paused, "me")) for paused in (True, True, False, False)]
        assert told == [True, False, True, False]
    assert [(entry.what, entry.target) for entry in run(order_store.list_audit())] == [
        ("resume", "type encode"),
        ("pause", "type encode"),
        ("resume", "queue emails"),
        ("pause", "queue emails"),
    ]


def test_the_audit_by_pages(run: Run, put: Put) -> None:
    jobs = put(4)
    for n, job in enumerate(jobs):
        run(actions.order(Change(Kind.PRIORITY, n), [job], f"user-{n % 2}"))
    newest = run(order_store.list_audit(2))
    assert [entry.target for entry in newest] == [str(jobs[3]), str(jobs[2])]
    assert [entry.target for entry in run(order_store.list_audit(9, newest[1].id))] == [str(jobs[1]), str(jobs[0])]
    assert [entry.target for entry in run(order_store.list_audit(who="user-0"))] == [str(jobs[2]), str(jobs[0])]
    assert [entry.who for entry in run(order_store.list_audit(target=str(jobs[1])))] == ["user-1"]
    assert run(order_store.list_operations()) == []


def test_an_order_that_is_rolled_back_leaves_no_record(put: Put, sql: Sql) -> None:
    (job,) = put(1)
    with sql.transaction(force_rollback=True):
        sql.execute("SELECT administer_jobs('cancel', %s, NULL, 'me')", ([job],))
        assert sql.execute("SELECT count(*) FROM audit").fetchone() == (1,)
    assert sql.execute("SELECT count(*) FROM audit").fetchone() == (0,)


def test_the_audit_is_kept_for_its_time(run: Run, sql: Sql) -> None:
    sql.execute(
        "INSERT INTO audit (who, what, target, at) SELECT 'me', 'x', n, now() - n * interval '1 day'"
        " FROM unnest('{100, 91, 89, 1}'::int[]) AS n"
    )
    sql.execute(
        "INSERT INTO operations (kind, filter, who, state, ended_at) SELECT 'retry', '', 'me', s, t"
        " FROM (VALUES ('done', now() - interval '91 days'), ('done', now()), ('running', NULL)) AS v (s, t)"
    )
    assert run(chores.sweep_audit()) == 2
    assert [entry.target for entry in run(order_store.list_audit())] == ["1", "89"]
    assert sorted(operation.state for operation in run(order_store.list_operations())) == ["done", "running"]
    sql.execute("UPDATE settings SET audit_retention = '2 days'")
    assert [run(chores.sweep_audit()) for _ in range(2)] == [1, 0]


def test_the_audit_never_grows_beyond_its_bound(run: Run, sql: Sql) -> None:
    sql.execute("INSERT INTO audit (who, what, target) SELECT 'me', 'x', '' FROM generate_series(1, 100003)")
    assert [run(chores.sweep_audit()) for _ in range(2)] == [3, 0]


def test_who_sits_here(monkeypatch: pytest.MonkeyPatch, app: Howdah) -> None:
    monkeypatch.setenv("LOGNAME", "ada")
    assert local_who().startswith("ada@")
