"""Why a job is not running: every cause, alone and together."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from howdah.admin.why import Cause, Why, find_why
from howdah.model.errors import JobNotFound
from tests.admin.conftest import Put, Run, Sql

TWO_HOURS = timedelta(hours=2)


def register(sql: Sql, name: str = "w", queues: str = "default", job_types: str = "a", info: str = "{}") -> None:
    sql.execute(
        "SELECT register_worker(%s, '1 hour', %s, %s, %s)",
        (name, queues.split(","), job_types.split(","), info),
    )


def why(run: Run, job: UUID, **options: Any) -> Why:
    found = run(find_why(job, **options))
    assert isinstance(found, Why)
    return found


def causes(run: Run, job: UUID) -> list[Cause]:
    return [reason.cause for reason in why(run, job).reasons]


def test_what_waits_for_nothing(run: Run, put: Put, sql: Sql) -> None:
    register(sql)
    (job,) = put(1)
    assert causes(run, job) == [Cause.READY]
    with pytest.raises(JobNotFound):
        run(find_why(uuid4()))


@pytest.mark.parametrize(
    ("columns", "cause", "words"),
    [
        ({"status": "running", "worker_id": "w7"}, Cause.RUNNING, "running on worker w7"),
        ({"status": "claimed", "worker_id": "w7"}, Cause.CLAIMED, "worker w7 has claimed it"),
        ({"status": "completed"}, Cause.ENDED, "ended as completed"),
        ({"status": "failed", "last_error": "ValueError"}, Cause.ENDED, "ended as failed; `howdah retry`"),
        ({"status": "cancelled"}, Cause.ENDED, "ended as cancelled"),
        ({"status": "failed", "last_error": "poison: x", "deaths": 3}, Cause.POISON, "3 workers died"),
        ({"run_at": TWO_HOURS}, Cause.SCHEDULED, "due in 1h59m"),
        ({"run_at": TWO_HOURS, "attempts": 1, "errors": 1}, Cause.RETRY_DELAY, "tried again in 1h59m"),
        ({"attempts": 3}, Cause.NO_ATTEMPTS, "no attempts left (3 of 3)"),
    ],
)
def test_a_cause_of_its_own(run: Run, put: Put, sql: Sql, columns: dict[str, Any], cause: Cause, words: str) -> None:
    register(sql)
    if "run_at" in columns:
        # From now on, not from when the tests were collected.
        columns = {**columns, "run_at": datetime.now(UTC) + columns["run_at"]}
    found = why(run, put(1, **columns)[0])
    assert [reason.cause for reason in found.reasons] == [cause]
    assert words in found.reasons[0].words
    assert found.runs == (cause is Cause.RUNNING)


def test_a_cancellation_under_way(run: Run, put: Put, sql: Sql) -> None:
    (job,) = put(1, status="running", worker_id="w", cancel_requested_at=datetime.now(UTC))
    assert causes(run, job) == [Cause.CANCEL_REQUESTED, Cause.RUNNING]


def test_pauses(run: Run, put: Put, sql: Sql) -> None:
    register(sql)
    (job,) = put(1)
    sql.execute("SELECT pause('queue', 'other'), pause('type', 'default'), pause('queue', 'a')")
    assert causes(run, job) == [Cause.READY], "other names, or the name of the other kind"
    sql.execute("SELECT pause('queue', 'default')")
    assert causes(run, job) == [Cause.PAUSED_QUEUE]
    sql.execute("SELECT pause('type', 'a')")
    assert causes(run, job) == [Cause.PAUSED_QUEUE, Cause.PAUSED_TYPE]
    assert "`howdah resume --type a`" in why(run, job).reasons[1].words


def test_nobody_to_run_it(run: Run, put: Put, sql: Sql) -> None:
    (job,) = put(1, queue="q", job_type="t")
    assert causes(run, job) == [Cause.NO_WORKER]
    register(sql, "w1", "x", "y")
    assert causes(run, job) == [Cause.TYPE_UNKNOWN, Cause.QUEUE_UNSERVED]
    register(sql, "w2", "q", "y")
    assert causes(run, job) == [Cause.TYPE_UNKNOWN]
    register(sql, "w3", "x", "t")
    assert causes(run, job) == [Cause.NOT_TOGETHER]
    register(sql, "w4", "x,q", "t")
    assert causes(run, job) == [Cause.READY]
    sql.execute("UPDATE workers SET heartbeat_at = now() - interval '2 hours'")
    assert causes(run, job) == [Cause.NO_WORKER]


def test_all_are_busy(run: Run, put: Put, sql: Sql) -> None:
    register(sql, "w", info='{"slots": 2}')
    put(2, status="running", worker_id="w")
    (job,) = put(1)
    assert causes(run, job) == [Cause.BUSY]
    assert "the only worker that could run it is busy, with 2 jobs" in why(run, job).reasons[0].words
    register(sql, "w2", info='{"slots": 2}')
    assert causes(run, job) == [Cause.READY], "another has a slot"
    register(sql, "w2", info="{}")
    assert causes(run, job) == [Cause.READY], "another does not say"


def test_how_many_are_ahead(run: Run, put: Put, sql: Sql) -> None:
    register(sql, "w", "default,q", "a,b")
    register(sql, "elsewhere", "r", "c")
    put(2, priority=150)  # higher
    put(3, queue="q", job_type="b")  # older, in another lane of the same worker
    put(4, queue="r", job_type="c", priority=500)  # a lane of somebody else
    put(5, priority=50)  # lower
    (job,) = put(1)
    put(6)  # younger
    found = why(run, job)
    assert [(reason.cause, reason.count) for reason in found.reasons] == [(Cause.AHEAD, 5)]
    assert "5 jobs are ahead of it" in found.reasons[0].words
    assert "3 or more jobs" in why(run, job, most=3).reasons[0].words
    sql.execute("SELECT pause('queue', 'q')")
    assert why(run, job).reasons[0].count == 2, "what is paused is not ahead"
