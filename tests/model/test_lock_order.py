"""Every batch statement beside every other, over the same jobs, named in opposite orders: none may ever wait for
another that waits for it.

The server looks for deadlocks after 50 milliseconds, and every statement's own error is counted. A statement may refuse
because somebody holds a row (lock_timeout); it may not deadlock, fail in any other way, or wait for ever.
"""

from __future__ import annotations

import os
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations_with_replacement, cycle
from uuid import UUID

import psycopg
import pytest
from psycopg.errors import DeadlockDetected, LockNotAvailable

from tests.conftest import Database
from tests.model.statements import Sql, ask
from tests.rig.waiting import until

#: How often each pair meets; `make torture` asks for more.
ROUNDS = int(os.environ.get("HOWDAH_LOCK_ROUNDS", "3"))
JOBS = 200
#: Nothing here takes a hundredth of it; whatever does waits for ever.
PATIENCE = 20.0
PARTS = 4


@dataclass(frozen=True)
class Stage:
    """What the statements of a round have to do with: held jobs with their leases, their claims, and waiting jobs."""

    held: list[tuple[UUID, int]]
    claims: list[int]
    waiting: list[UUID]


Statement = Callable[[Sql, Stage, int], object]


def _ordered(pairs: Sequence[tuple[UUID, int]], direction: int) -> tuple[list[UUID], list[int]]:
    ordered = sorted(pairs)[::direction]
    return [pair[0] for pair in ordered], [pair[1] for pair in ordered]


def _every(stage: Stage, direction: int) -> list[UUID]:
    return sorted([*stage.waiting, *(pair[0] for pair in stage.held)])[::direction]


def claim_jobs(sql: Sql, stage: Stage, direction: int) -> object:
    return sql.execute("SELECT * FROM claim_jobs('claimer', ARRAY['a', 'b'], 40)").fetchall()


def claim_job_batch(sql: Sql, stage: Stage, direction: int) -> object:
    return sql.execute("SELECT * FROM claim_job_batch('plain', ARRAY['b', 'a'], 40)").fetchall()


def claim_from_marks(sql: Sql, stage: Stage, direction: int) -> object:
    nothing = "NULL, NULL, NULL, NULL, NULL, NULL"
    return sql.execute(f"SELECT * FROM claim_from_marks('marker', ARRAY['a', 'b'], 40, {nothing})".encode()).fetchall()


def complete_jobs(sql: Sql, stage: Stage, direction: int) -> object:
    ids, leases = _ordered(stage.held, direction)
    return sql.execute(
        "SELECT complete_jobs(%s::uuid[], %s::bigint[], NULL, %s::float8[], %s::bigint[])",
        (ids, leases, [0.0] * len(ids), stage.claims[::direction]),
    ).fetchall()


def finish_jobs(sql: Sql, stage: Stage, direction: int) -> object:
    ids, leases = _ordered(stage.held, direction)
    words = ["retry" if n % 2 else "release" for n in range(len(ids))]
    return sql.execute(
        "SELECT * FROM finish_jobs(%s::uuid[], %s::bigint[], %s::text[], '{}', '{}', '{}', %s::bigint[])",
        (ids, leases, words, stage.claims[::direction]),
    ).fetchall()


def report_jobs(sql: Sql, stage: Stage, direction: int) -> object:
    ids, leases = _ordered(stage.held, direction)
    return sql.execute(
        "SELECT report_jobs(%s::uuid[], %s::bigint[], %s::int[], '{}', '{}')", (ids, leases, [5] * len(ids))
    ).fetchall()


def record_events(sql: Sql, stage: Stage, direction: int) -> object:
    ids, leases = _ordered(stage.held, direction)
    return sql.execute(
        "SELECT record_events(%s::uuid[], %s::bigint[], %s::int[], %s::text[], '{}', %s::float8[])",
        (ids, leases, [1] * len(ids), ["said"] * len(ids), [0.0] * len(ids)),
    ).fetchall()


def heartbeat(sql: Sql, stage: Stage, direction: int) -> object:
    ids, leases = _ordered(stage.held, direction)
    return sql.execute("SELECT * FROM heartbeat('holder', %s::uuid[], %s::bigint[])", (ids, leases)).fetchall()


def rescue_jobs(sql: Sql, stage: Stage, direction: int) -> object:
    return sql.execute("SELECT * FROM rescue_jobs()").fetchall()


def recover_stale_jobs(sql: Sql, stage: Stage, direction: int) -> object:
    return sql.execute("SELECT recover_stale_jobs('0')").fetchall()


def reconcile_claims(sql: Sql, stage: Stage, direction: int) -> object:
    return sql.execute("SELECT reconcile_claims('holder', '{}', '0')").fetchall()


def unregister_worker(sql: Sql, stage: Stage, direction: int) -> object:
    return sql.execute("SELECT unregister_worker('holder')").fetchall()


def register_worker(sql: Sql, stage: Stage, direction: int) -> object:
    return sql.execute("SELECT register_worker('holder', '1 millisecond', '{}', '{}', '{}')").fetchall()


def cancel_jobs(sql: Sql, stage: Stage, direction: int) -> object:
    """One after the other, each in a transaction of its own, as everybody does."""
    return [sql.execute("SELECT cancel_job(%s)", (job_id,)) for job_id in _every(stage, direction)[:20]]


def retry_jobs(sql: Sql, stage: Stage, direction: int) -> object:
    return [sql.execute("SELECT retry_job(%s)", (job_id,)) for job_id in _every(stage, direction)[:20]]


_kinds = cycle([("retry", None), ("cancel", None), ("priority", "5"), ("queue", "q"), ("delete", None)])


def administer_jobs(sql: Sql, stage: Stage, direction: int) -> object:
    """Each time another of the changes that an operator may order."""
    kind, argument = next(_kinds)
    call = "SELECT * FROM administer_jobs(%s, %s::uuid[], %s, 'me')"
    return sql.execute(call, (kind, _every(stage, direction), argument)).fetchall()


def promote_due(sql: Sql, stage: Stage, direction: int) -> object:
    return sql.execute("SELECT promote_due()").fetchall()


def sweep(sql: Sql, stage: Stage, direction: int) -> object:
    return sql.execute("SELECT sweep_lanes(), sweep_late()").fetchall()


def expire(sql: Sql, stage: Stage, direction: int) -> object:
    return sql.execute("SELECT delete_expired_jobs(100)").fetchall()


def insert_many(sql: Sql, stage: Stage, direction: int) -> object:
    return sql.execute("INSERT INTO jobs (job_type, priority) SELECT 'a', n FROM generate_series(1, 30) AS n")


def update_many(sql: Sql, stage: Stage, direction: int) -> object:
    ids = _every(stage, direction)
    return sql.execute("UPDATE jobs SET priority = priority + %s WHERE id = ANY (%s)", (direction, ids))


def give_back_many(sql: Sql, stage: Stage, direction: int) -> object:
    """The contract's plain recovery statement."""
    return sql.execute(
        "UPDATE jobs SET status = 'pending', worker_id = NULL, claimed_at = NULL"
        " WHERE status IN ('claimed', 'running') AND attempts < max_attempts"
    )


def delete_many(sql: Sql, stage: Stage, direction: int) -> object:
    return sql.execute("DELETE FROM jobs WHERE id = ANY (%s)", (_every(stage, direction)[::3],))


STATEMENTS: list[Statement] = [
    claim_jobs, claim_job_batch, claim_from_marks, complete_jobs, finish_jobs, report_jobs, record_events, heartbeat,
    rescue_jobs, recover_stale_jobs, reconcile_claims, unregister_worker, register_worker, cancel_jobs, retry_jobs,
    administer_jobs, promote_due, sweep, expire, insert_many, update_many, give_back_many, delete_many,
]  # fmt: skip
PAIRS = list(combinations_with_replacement(STATEMENTS, 2))


def set_stage(sql: Sql, *, empty_handed: bool) -> Stage:
    """Jobs held by one worker that is silent, and jobs that wait, some of them due only now. Empty-handed: the worker's
    jobs have all ended, and only its claims are left."""
    sql.execute("DELETE FROM jobs; DELETE FROM claims; DELETE FROM workers; DELETE FROM ready; DELETE FROM scheduled")
    sql.execute("UPDATE settings SET late_swept_at = '-infinity'")
    sql.execute(
        "INSERT INTO jobs (job_type, priority, max_attempts) SELECT CASE WHEN n %% 2 = 0 THEN 'a' ELSE 'b' END, n, 9"
        " FROM generate_series(1, %s) AS n",
        (JOBS,),
    )
    claim = "SELECT id, lease, claim FROM claim_jobs('holder', ARRAY['a', 'b'], %s)"
    held = [row for _ in range(3) for row in sql.execute(claim, (JOBS // 6,)).fetchall()]
    if empty_handed:
        sql.execute("UPDATE jobs SET status = 'completed' WHERE id = ANY (%s)", ([row[0] for row in held],))
    sql.execute("SELECT register_worker('holder', '1 millisecond', '{}', '{}', '{}')")
    waiting = [row[0] for row in sql.execute("SELECT id FROM jobs WHERE status = 'pending'").fetchall()]
    sql.execute("UPDATE jobs SET run_at = now() + interval '1 microsecond' WHERE id = ANY (%s)", (waiting[::4],))
    sql.execute("UPDATE jobs SET status = 'failed', completed_at = '2020-01-01' WHERE id = ANY (%s)", (waiting[1::8],))
    return Stage([row[:2] for row in held], sorted({row[2] for row in held}), waiting)


class Meeting:
    """Two connections on which two statements meet, again and again."""

    def __init__(self, links: Sequence[Sql]) -> None:
        self.links = links
        self.answers: Counter[str] = Counter()
        self._barrier = threading.Barrier(2, timeout=PATIENCE)
        self._threads = ThreadPoolExecutor(2)

    def meet(self, pair: tuple[Statement, Statement], chance: random.Random) -> None:
        stage = set_stage(self.links[2], empty_handed=chance.random() < 0.2)
        head_start = chance.choice([0, 0, 200, 1000])
        runs = [
            self._threads.submit(self._run, self.links[n], pair[n], stage, (1, -1)[n], head_start * n) for n in (0, 1)
        ]
        for run in runs:
            self.answers[run.result(PATIENCE)] += 1

    def _run(self, sql: Sql, statement: Statement, stage: Stage, direction: int, spins: int) -> str:
        self._barrier.wait()
        for _ in range(spins):  # a few microseconds each, so that now one is first and now the other
            pass
        try:
            statement(sql, stage, direction)
        except LockNotAvailable:
            return "refused"
        except DeadlockDetected as error:
            return f"deadlock in {statement.__name__}: {error.diag.message_detail}"
        except psycopg.Error as error:
            return f"{statement.__name__} failed: {error}"
        return "done"

    def close(self) -> None:
        self._threads.shutdown()


@pytest.fixture
def meeting(database: Database) -> Iterator[Meeting]:
    links = [database.connect() for _ in range(3)]
    for sql in links:
        sql.execute("SET deadlock_timeout = '50ms'")
        sql.execute("SET statement_timeout = '15s'")
    meeting = Meeting(links)
    yield meeting
    meeting.close()
    for sql in links:
        sql.close()


@pytest.mark.timeout(max(120, 20 * ROUNDS))
@pytest.mark.parametrize("part", range(PARTS))
def test_no_two_batch_statements_wait_for_each_other_in_a_circle(meeting: Meeting, part: int) -> None:
    chance = random.Random(part)
    pairs = PAIRS[part::PARTS]
    for _ in range(ROUNDS):
        for pair in chance.sample(pairs, len(pairs)):
            meeting.meet(pair if chance.random() < 0.5 else pair[::-1], chance)
    wrong = {answer: count for answer, count in meeting.answers.items() if answer not in ("done", "refused")}
    assert wrong == {}
    assert meeting.answers.total() == 2 * ROUNDS * len(pairs)
    # Each makes progress: refusals are the exception.
    assert meeting.answers["done"] > 0.8 * meeting.answers.total()
    deadlocks = ask(meeting.links[2], "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    assert deadlocks == 0


def test_every_pair_is_met() -> None:
    assert len(PAIRS) == len(STATEMENTS) * (len(STATEMENTS) + 1) // 2
    assert sum(len(PAIRS[part::PARTS]) for part in range(PARTS)) == len(PAIRS)


def test_a_worker_may_leave_while_a_rescue_takes_it_for_dead(meeting: Meeting) -> None:
    leaving, rescuing, holding = meeting.links
    set_stage(holding, empty_handed=True)
    with ThreadPoolExecutor(2) as threads:
        with holding.transaction():
            # Both have to wait here, the one that leaves first in the queue.
            holding.execute("SELECT FROM claims FOR UPDATE")
            left = threads.submit(leaving.execute, "SELECT unregister_worker('holder')")
            until(lambda: _waits(holding, leaving), "the leaving worker waits for its claims")
            rescued = threads.submit(rescuing.execute, "SELECT * FROM rescue_jobs()")
            until(lambda: rescued.done() or _waits(holding, rescuing), "the rescue is over, or waits too")
        assert left.result(PATIENCE).fetchall() == [(True,)]
        assert rescued.result(PATIENCE).fetchall() == []


def _waits(watching: Sql, sql: Sql) -> bool:
    pid = sql.info.backend_pid
    return bool(ask(watching, "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = %s", pid))
