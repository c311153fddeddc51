"""A hostile search_path and shadow objects in pg_temp: none of them is ever used, whichever door is opened.

Whoever calls has put a schema of his own before pg_catalog, and temporary objects besides. What runs with the owner's
rights must not find them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from tests.security import shadows
from tests.security.conftest import OWNER, Secured, login
from tests.security.manifest import ADMIN, EVERYBODY, FUNCTIONS, PAYLOAD_READER, PRODUCER, READER, WORKER

Sql = psycopg.Connection[Any]
PATHS = ("hostile, pg_catalog, howdah", "pg_temp, hostile, howdah, pg_catalog")


@contextmanager
def hostile(secured: Secured, who: str, path: str = PATHS[0]) -> Iterator[tuple[Sql, int]]:
    """Somebody of that role with all shadows laid, and how many there are. Literals only from here on: a cast or an
    operator in the caller's own words would use a shadow in the caller's own name, which proves nothing."""
    with secured.connect() as superuser:
        superuser.execute(f"CREATE SCHEMA hostile AUTHORIZATION {login(who)}".encode())
    with secured.connect(who) as sql:
        laid = shadows.lay(sql)
        sql.execute(f"SET search_path = {path}".encode())
        yield sql, laid


def seen(secured: Secured) -> list[Any]:
    with secured.connect() as superuser:
        return superuser.execute("SELECT DISTINCT what, whose::text FROM hostile.seen ORDER BY 1").fetchall()


class Stage:
    """What the owner prepares, and reads, so that each call has something to do."""

    def __init__(self, owner: Sql) -> None:
        self._owner = owner
        self._numbers = 0

    def pending(self, job_type: str = "shadowed") -> str:
        return str(self._one("SELECT howdah.enqueue_job(%s)", job_type))

    def held(self) -> tuple[str, int]:
        """A job claimed by the worker `other`, and its lease."""
        self._numbers += 1
        self.pending(job_type := f"held_{self._numbers}")
        row = self._owner.execute("SELECT id, lease FROM howdah.claim_jobs('other', %s, 1)", ([job_type],)).fetchone()
        assert row is not None
        return str(row[0]), int(row[1])

    def silent_worker(self, name: str) -> None:
        """It holds a job, and has not been heard of for an hour."""
        self.pending(job_type := f"of_{name}")
        self._owner.execute("SELECT howdah.register_worker(%s, '1 millisecond', '{}', '{}', '{}')", (name,))
        self._owner.execute("SELECT howdah.claim_jobs(%s, %s, 1)", (name, [job_type]))
        self._owner.execute("UPDATE howdah.workers SET heartbeat_at = now() - interval '1 hour' WHERE id = %s", (name,))

    def upkeep_is_due(self) -> None:
        """A partition to make, one to drop, a job to delete, sweeps to begin."""
        self._owner.execute(
            "SELECT howdah.create_partition('2020-01-01', '2020-01-08');"
            " UPDATE howdah.settings SET partitions_ahead = partitions_ahead + 1, swept_at = '-infinity',"
            " late_swept_at = '-infinity';"
            " INSERT INTO howdah.jobs (id, job_type, status, completed_at)"
            " VALUES ('00000000-0000-4000-8000-000000000000', 'old', 'completed', '2020-01-01');"
            " INSERT INTO howdah.lanes SELECT * FROM howdah.lanes"
        )

    def due(self) -> None:
        self._owner.execute("INSERT INTO howdah.jobs (job_type, run_at) VALUES ('shadowed', now() + interval '1 ms')")

    def _one(self, statement: str, *values: object) -> object:
        row = self._owner.execute(statement.encode(), values).fetchone()
        assert row is not None
        return row[0]


def calls_of_producer(stage: Stage) -> Iterator[tuple[str, str]]:
    job, (held, _) = stage.pending(), stage.held()
    yield "new_job_id", ""
    yield "enqueue_job", "'shadowed', '{\"a\": 1}', 5, 'default', '2999-01-01', 3, NULL"
    yield "enqueue_job", "'shadowed'"
    for name in ("get_job", "get_status", "cancel_job"):
        yield name, f"'{job}'"
        yield name, f"'{held}'"
    yield "list_events", f"'{held}', 0"


def calls_of_admin(stage: Stage) -> Iterator[tuple[str, str]]:
    job, (held, _) = stage.pending(), stage.held()
    for name in ("cancel_job", "retry_job", "cancel_job", "retry_job"):
        yield name, f"'{job}'"
        yield name, f"'{held}'"
    yield "pause", "'queue', 'default'"
    yield "resume", "'queue', 'default'"
    orders = [("retry", "NULL"), ("priority", "'5'"), ("queue", "'q'"), ("cancel", "NULL"), ("delete", "NULL")]
    for kind, argument in orders:
        yield "administer_jobs", f"'{kind}', '{{{job}, {held}}}', {argument}, 'me'"
    yield "administer_jobs", f"'run_now', '{{{job}}}', NULL, 'me'"
    yield "set_pause", "'queue', 'default', 'true', 'me'"
    yield "set_pause", "'queue', 'default', 'false', 'me'"
    operation, other = str(uuid4()), str(uuid4())
    for one in (operation, other):
        yield "begin_operation", f"'{one}', 'retry', '', NULL, NULL, 'me', 3"
    again = stage.pending()
    yield "step_operation", f"'{operation}', NULL, '{{{again}}}', '{again}', 'false', 'true'"
    yield "step_operation", f"'{operation}', '{again}', '{{{again}}}', '{again}', 'true', 'false'"
    yield "cancel_operation", f"'{operation}', 'me'"
    yield "fail_operation", f"'{other}', 'no more'"


def calls_of_reader(stage: Stage) -> Iterator[tuple[str, str]]:
    stage.pending()
    yield "lane_of", "'default', 'shadowed'"
    yield "list_partitions", ""
    yield "queue_depths", "10"
    yield "sum_counts", "'{1,2}'"


def calls_of_payload_reader(stage: Stage) -> Iterator[tuple[str, str]]:
    yield from calls_of_reader(stage)
    for job in (stage.pending(), stage.held()[0]):
        yield "get_job", f"'{job}'"
        yield "get_status", f"'{job}'"
        yield "list_events", f"'{job}', 0"


def calls_of_worker(stage: Stage) -> Iterator[tuple[str, str]]:
    yield "register_worker", "'me', '30 seconds', '{default}', '{shadowed}', '{}'"
    yield from claims(stage)
    yield from ends(stage)
    held, lease = stage.held()
    yield "heartbeat", f"'me', '{{{held}}}', '{{{lease}}}'"
    yield "heartbeat", "'somebody new'"
    yield "reconcile_claims", "'me', '{}', '0 seconds'"
    stage.silent_worker("buried")
    yield "bury_worker", "'buried'"
    stage.silent_worker("rescued")
    yield "rescue_jobs", ""
    stage.silent_worker("stale")
    yield "recover_stale_jobs", "'0 seconds'"
    yield "unregister_worker", "'me'"
    stage.upkeep_is_due()
    for name, arguments in (
        ("create_next_partition", ""),
        ("drop_expired_partition", ""),
        ("delete_expired_jobs", "10"),
    ):
        yield name, arguments
    for name, arguments in (
        ("begin_sweep", "'1 second'"),
        ("sweep_lanes", ""),
        ("sweep_late", ""),
        ("sweep_audit", ""),
    ):
        yield name, arguments
    yield from statistics(stage)


def statistics(stage: Stage) -> Iterator[tuple[str, str]]:
    for _ in range(2):
        # Into rows that are not there, and into those that are.
        yield "record_stats", """'[{"queue": "q", "job_type": "t", "completed": 1, "ran": [0, 1], "waited": [1]}]'"""
    yield "note_rescues", f"'{{{stage.pending()},{stage.held()[0]}}}', '{{pending,failed}}'"
    stage.pending()
    yield from [("begin_sample", "'0 seconds'"), ("queue_depths", ""), ("sample_queues", ""), ("prune_stats", "")]


def claims(stage: Stage) -> Iterator[tuple[str, str]]:
    marks = """'{"(1,-101,2020-01-01,00000000-0000-0000-0000-000000000000)"}', NULL, '1:1:'"""
    for more in ("NULL, NULL, NULL, NULL, NULL, NULL", f"NULL, NULL, NULL, {marks}"):
        stage.pending()
        stage.due()
        yield "claim_from_marks", f"'me', '{{shadowed}}', 5, {more}"
    stage.pending()
    yield "claim_from_marks", "'me', '{shadowed}', 5, '{default,more}', '{2,3}', '{0,1}', NULL, NULL, NULL"
    for name, arguments in (
        ("claim_jobs", "'me', '{shadowed}', 5"),
        ("claim_jobs", "'me', '{shadowed}', 5, '{default}', '{5}', '{0}'"),
        ("claim_job_batch", "'me', '{shadowed}', 5"),
        ("seconds_to_next_due", ""),
    ):
        stage.pending()
        yield name, arguments


def ends(stage: Stage) -> Iterator[tuple[str, str]]:
    for name, more in (
        ("start_job", ""),
        ("report_progress", ", 50, 'half'"),
        ("record_event", ", 'said', '{\"n\": 1}'"),
        ("complete_job", ", '{\"done\": true}'"),
        ("fail_job", ", 'oh no', '1 second', false"),
        ("fail_job", ", 'oh no', NULL, true"),
        ("release_job", ""),
    ):
        held, lease = stage.held()
        yield name, f"'{held}', {lease}{more}"
    for name, more in (
        ("report_jobs", "'{10}', '{begun}', '{0.5}'"),
        ("record_events", """'{1}', '{said}', '{"{}"}', '{0.1}'"""),
        ("complete_jobs", "'{1}', '{0.5}', '{1}'"),
        ("finish_jobs", "'{retry}', '{oh no}', '{NULL}', '{0.1}', '{}'"),
        ("finish_jobs", "'{death}', '{oh no}', '{1.5}', '{0.1}', '{}'"),
    ):
        held, lease = stage.held()
        yield name, f"'{{{held}}}', '{{{lease}}}', {more}"
    # Refused: another's lease.
    yield "complete_jobs", f"'{{{stage.held()[0]}}}', '{{1}}', '{{null}}', '{{0}}', '{{}}'"
    yield "not_locked", f"'{{{stage.held()[0]}}}'"


CALLS = {
    PRODUCER: calls_of_producer,
    WORKER: calls_of_worker,
    ADMIN: calls_of_admin,
    READER: calls_of_reader,
    PAYLOAD_READER: calls_of_payload_reader,
}


def statements_of(who: str, job: str) -> list[str]:
    """What each role says to tables; operators written out, or they would be the caller's own shadows."""
    return {
        PRODUCER: [
            "INSERT INTO howdah.jobs (job_type, data) VALUES ('shadowed', '{}'), ('new', '{}')",
            "INSERT INTO howdah.jobs (job_type, run_at, priority) VALUES ('shadowed', '2999-01-01', 7)",
            "INSERT INTO howdah.jobs (id, job_type) VALUES ('00000000-0000-4000-8000-000000000001', 'old')",
        ],
        WORKER: ["SELECT notify FROM howdah.settings"],
        ADMIN: [
            f"UPDATE howdah.jobs SET priority = 7 WHERE id OPERATOR(pg_catalog.=) '{job}'",
            "UPDATE howdah.settings SET retention = '90 days'",
        ],
        READER: ["SELECT * FROM howdah.job_lines", "SELECT id, status FROM howdah.jobs", "SELECT * FROM howdah.ready"],
        PAYLOAD_READER: [
            "SELECT * FROM howdah.job_lines",
            "SELECT * FROM howdah.jobs",
            "SELECT * FROM howdah.job_events",
        ],
    }[who]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("who", EVERYBODY)
def test_no_shadow_is_ever_used(secured: Secured, who: str, path: str) -> None:
    called = set()
    with secured.connect(OWNER) as owner, hostile(secured, who, path) as (sql, laid):
        stage = Stage(owner)
        for name, arguments in CALLS[who](stage):
            # An aggregate is no table.
            table = "" if name == "sum_counts" else "* FROM "
            sql.execute(f"SELECT {table}howdah.{name}({arguments})".encode())
            called.add(name)
        for statement in statements_of(who, stage.pending()):
            sql.execute(statement.encode())
        print(f"{who}: {laid} shadows, {len(called)} functions called")
    assert seen(secured) == []
    assert called == {name for name, allowed in FUNCTIONS.items() if who in allowed}
    assert laid >= 50


def test_copy_meets_no_shadow(secured: Secured) -> None:
    with hostile(secured, PRODUCER) as (sql, _):
        with sql.cursor() as cursor, cursor.copy("COPY howdah.jobs (job_type, priority) FROM STDIN") as copy:
            copy.write("shadowed\t1\nshadowed\t2\n")
        assert sql.execute("TABLE howdah.migrations").fetchall()
    assert seen(secured) == []


@pytest.mark.parametrize(
    ("name", "who", "statement"),
    [
        ("jobs_inserted", PRODUCER, "INSERT INTO howdah.jobs (job_type) VALUES ('shadowed')"),
        ("cancel_job", PRODUCER, "SELECT howdah.cancel_job('{job}')"),
        ("complete_job", WORKER, "SELECT howdah.complete_job('{job}', 1)"),
    ],
)
def test_without_its_pin_a_function_walks_into_the_trap(secured: Secured, name: str, who: str, statement: str) -> None:
    """The trap works: it would have been noticed. And what walks into it has the owner's rights."""
    with secured.connect(OWNER) as owner, hostile(secured, who) as (sql, _):
        owner.execute(f"ALTER FUNCTION howdah.{name} RESET search_path".encode())
        sql.execute(statement.format(job=Stage(owner).pending()).encode())
    caught = seen(secured)
    assert caught != []
    assert {whose for _, whose in caught} == {OWNER}


def test_the_callers_own_words_do_use_shadows(secured: Secured) -> None:
    with hostile(secured, READER) as (sql, _):
        sql.execute("SELECT now(), 'x'::text || 'y'::text")
    assert {what.split()[0] for what, _ in seen(secured)} >= {"function", "type"}
