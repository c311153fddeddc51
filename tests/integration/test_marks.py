"""Claims from marks: the same order as a claim from the head, and nothing that commits late is left behind."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.errors import LockNotAvailable

from howdah import Howdah
from howdah.db.catalog import Catalog
from howdah.db.link import Link, Outage
from howdah.worker.claimer import Claimer
from howdah.worker.marks import Start
from howdah.worker.slots import Slots, make_pools
from howdah.worker.store import ClaimedJob, Haul, Place
from tests.conftest import Database
from tests.integration.test_contract import insert, value
from tests.rig.waiting import until_async

Sql = psycopg.Connection[Any]
CLAIM = """
    SELECT id, priority, created_at, data, attempts FROM claim_from_marks(
        'w', %(types)s, %(batch)s, NULL, NULL, NULL, %(marks)s::mark[], %(strays)s::stray[], %(seen)s::pg_snapshot)
"""


@dataclass
class Claimed:
    """What claim_from_marks says: the header row, and the jobs in claim order."""

    ids: list[UUID]
    near: str | None
    far: str | None
    strays: str | None
    seen: str | None
    took: int


def claim_from(
    sql: Sql,
    batch: int = 10,
    marks: str | None = None,
    strays: str | None = None,
    seen: str | None = None,
    types: Sequence[str] = ("plain",),
) -> Claimed:
    parameters = {"types": list(types), "batch": batch, "marks": marks, "strays": strays, "seen": seen}
    about, *jobs = sql.execute(CLAIM, parameters).fetchall()
    jobs.sort(key=lambda row: (-row[1], row[2], row[0]))
    said = json.loads(about[3] or "{}")
    ids = [UUID(bytes=bytes(row[0])) for row in jobs]
    return Claimed(ids, said.get("near"), said.get("far"), said.get("strays"), said.get("seen"), about[4])


def line(sql: Sql) -> list[UUID]:
    return [row[0] for row in sql.execute("SELECT id FROM ready ORDER BY rank, created_at, id").fetchall()]


def enqueue_mixed(sql: Sql, count: int, seed: int) -> None:
    chance = random.Random(seed)
    for n in range(count):
        age = chance.choice([0, 0, 1, 3, 60])
        sql.execute(
            "INSERT INTO jobs (job_type, queue, priority, created_at) VALUES (%s, %s, %s, now() - %s * interval '1 s')",
            (chance.choice("abc"), chance.choice(["default", "other"]), chance.choice([30, 100, 150]), age + n / 1000),
        )


@pytest.mark.parametrize("seed", range(4))
def test_batches_from_marks_come_in_the_order_of_the_line(sql: Sql, seed: int) -> None:
    enqueue_mixed(sql, 120, seed)
    expected, marks, got = line(sql), None, []
    while batch := claim_from(sql, 17, marks, types="abc"):
        if not batch.ids:
            break
        got += batch.ids
        marks = batch.near
    assert got == expected


def test_a_better_job_that_comes_later_is_next_although_its_priority_is_new(sql: Sql) -> None:
    ids = [insert(sql) for _ in range(6)]
    first = claim_from(sql, 2)
    better = insert(sql, priority=101)
    best = insert(sql, priority=2_000_000_000)
    second = claim_from(sql, 3, first.near)
    assert (first.ids, second.ids) == (ids[:2], [best, better, ids[2]])


def insert_aged(sql: Sql, job_type: str, seconds: float) -> UUID:
    query = "INSERT INTO jobs (job_type, created_at) VALUES (%s, now() - %s * interval '1 s') RETURNING id"
    row = sql.execute(query, (job_type, seconds)).fetchone()
    assert row is not None
    found: UUID = row[0]
    return found


def test_what_lies_behind_a_mark_does_not_overtake_older_jobs_of_another_type(sql: Sql) -> None:
    insert_aged(sql, "a", 0)
    place = claim_from(sql, 1, types="ab")
    # The mark of a's range is two seconds old, and b has none yet.
    oldest, stray, youngest = insert_aged(sql, "b", 3600), insert_aged(sql, "a", 1800), insert_aged(sql, "b", 60)
    got = []
    for _ in range(3):
        place = claim_from(sql, 1, place.far, place.strays, place.seen, types="ab")
        got += place.ids
    assert got == [oldest, stray, youngest]


def test_strays_that_overlap_come_in_the_order_of_their_age(sql: Sql) -> None:
    insert_aged(sql, "a", 0)
    insert_aged(sql, "b", 0)
    place = claim_from(sql, 2, types="ab")
    query = "INSERT INTO jobs (job_type, created_at) SELECT %s, now() - s * interval '1 s' FROM unnest(%s) AS s"
    sql.execute(query, ("a", [90, 50, 10]))
    sql.execute(query, ("b", [70, 30]))
    expected = line(sql)
    assert claim_from(sql, 3, place.far, place.strays, place.seen, types="ab").ids == expected[:3]


def test_strays_that_another_holds_are_passed_by(database: Database, sql: Sql) -> None:
    insert_aged(sql, "a", 0)
    place = claim_from(sql, 1, types="ab")
    ids = [insert_aged(sql, "ab"[n % 2], 1000 - n) for n in range(8)]
    with database.connect() as other, other.transaction(force_rollback=True):
        other.execute("SELECT FROM ready WHERE id = ANY(%s) FOR UPDATE", (ids[:5],))
        assert claim_from(sql, 2, place.far, place.strays, place.seen, types="ab").ids == ids[5:7]


def test_the_near_mark_begins_behind_what_was_taken(sql: Sql) -> None:
    ids = [insert(sql) for _ in range(4)]
    claimed = claim_from(sql, 2)
    sql.execute("UPDATE jobs SET status = 'pending' WHERE id = %s", (ids[0],))
    assert claim_from(sql, 9, claimed.near).ids == ids[2:], "a claim from the near mark walked back"


def test_the_far_mark_does_not_pass_what_another_has_locked(database: Database, sql: Sql) -> None:
    ids = [insert(sql) for _ in range(6)]
    sql.execute("UPDATE jobs SET created_at = created_at - interval '1 hour'")
    with database.connect() as other, other.transaction(force_rollback=True):
        assert claim_from(other, 2).ids == ids[:2]
        mine = claim_from(sql, 2)
        assert mine.ids == ids[2:4]
    # The other claim came to nothing: its jobs lie before our near mark, and not before our far mark.
    assert claim_from(sql, 9, mine.far, mine.strays, mine.seen).ids == [*ids[:2], *ids[4:]]


def late_setting(database: Database, sql: Sql) -> tuple[UUID, Claimed]:
    """A job of an hour ago in a transaction that is still open when younger ones are claimed, and commits then."""
    with database.connect() as slow, slow.transaction():
        late = slow.execute(
            "INSERT INTO jobs (job_type, created_at) VALUES ('plain', now() - interval '1 hour') RETURNING id"
        ).fetchone()
        younger = [insert(sql) for _ in range(3)]
        claimed = claim_from(sql, 3)
        assert claimed.ids == younger
    assert late is not None
    return late[0], claimed


def test_what_commits_late_is_found_from_the_far_mark(database: Database, sql: Sql) -> None:
    late, claimed = late_setting(database, sql)
    assert claim_from(sql, 9, claimed.far, claimed.strays, claimed.seen).ids == [late]


def test_without_the_list_of_what_commits_late_it_would_not_be_found(database: Database, sql: Sql) -> None:
    # The guard removed: this is what the list is for. From the head it is found all the same.
    late, claimed = late_setting(database, sql)
    sql.execute("TRUNCATE late")
    assert claim_from(sql, 9, claimed.far, claimed.strays, claimed.seen).ids == []
    assert claim_from(sql, 9).ids == [late]


def test_late_jobs_that_a_batch_has_no_room_for_are_remembered(database: Database, sql: Sql) -> None:
    _, claimed = late_setting(database, sql)
    with database.connect() as slow, slow.transaction():
        for n in range(5):
            slow.execute(
                "INSERT INTO jobs (job_type, created_at) VALUES ('plain', now() - %s * interval '1 min')", (n + 5,)
            )
    got = []
    for _ in range(4):
        claimed = claim_from(sql, 2, claimed.far, claimed.strays, claimed.seen)
        got += claimed.ids
    assert len(got) == len(set(got)) == 6
    ages = [value(sql, "created_at", job_id) for job_id in got]
    assert ages == sorted(ages)
    assert claim_from(sql, 2, claimed.far, claimed.strays, claimed.seen).strays is None, "done, and forgotten"


def test_a_late_job_comes_after_better_ones_and_before_equal_ones(database: Database, sql: Sql) -> None:
    late, claimed = late_setting(database, sql)
    equal, better = insert(sql), insert(sql, priority=150)
    assert claim_from(sql, 9, claimed.far, claimed.strays, claimed.seen).ids == [better, late, equal]


@pytest.mark.parametrize("how", ["retried", "due"])
def test_what_comes_back_into_the_line_is_found_from_the_far_mark(sql: Sql, how: str) -> None:
    old = insert(sql)
    sql.execute("UPDATE jobs SET created_at = now() - interval '1 hour' WHERE id = %s", (old,))
    assert claim_from(sql).ids == [old]
    claimed = claim_from(sql)
    if how == "retried":
        sql.execute("UPDATE jobs SET status = 'pending' WHERE id = %s", (old,))
    else:
        sql.execute("UPDATE jobs SET status = 'pending', run_at = now() + interval '20 ms' WHERE id = %s", (old,))
        sql.execute("SELECT pg_sleep(0.03)")
    assert claim_from(sql, 9, claimed.far, claimed.strays, claimed.seen).ids == [old]


def test_more_late_jobs_than_can_be_looked_at_one_by_one_are_found_from_the_head(database: Database, sql: Sql) -> None:
    _, claimed = late_setting(database, sql)
    with database.connect() as slow, slow.transaction():
        for n in range(520):
            slow.execute(
                "INSERT INTO jobs (job_type, created_at) VALUES ('plain', now() - %s * interval '1 s')", (n + 60,)
            )
    assert len(claim_from(sql, 1000, claimed.far, claimed.strays, claimed.seen).ids) == 521


def test_a_locked_job_and_a_surplus_line_row_fail_the_claim_whole(database: Database, sql: Sql) -> None:
    ids = [insert(sql) for _ in range(3)]
    with database.connect() as other, other.transaction():
        other.execute("SELECT 1 FROM jobs WHERE id = %s FOR UPDATE", (ids[1],))
        with pytest.raises(LockNotAvailable):
            claim_from(sql)
    row = sql.execute("SELECT lane, rank, created_at, id FROM ready WHERE id = %s", (ids[2],)).fetchone()
    sql.execute("UPDATE jobs SET priority = 30 WHERE id = %s", (ids[2],))
    sql.execute("INSERT INTO ready (lane, rank, created_at, id) VALUES (%s, %s, %s, %s)", row)
    with pytest.raises(LockNotAvailable, match="not where the ledger says"):
        claim_from(sql)
    assert [value(sql, "status", job_id) for job_id in ids] == ["pending"] * 3


def test_line_rows_of_jobs_that_are_not_pending_go_and_the_claim_says_how_many_it_took(sql: Sql) -> None:
    ids = [insert(sql) for _ in range(3)]
    row = sql.execute("SELECT lane, rank, created_at, id FROM ready WHERE id = %s", (ids[0],)).fetchone()
    sql.execute("UPDATE jobs SET status = 'cancelled' WHERE id = %s", (ids[0],))
    sql.execute("INSERT INTO ready (lane, rank, created_at, id) VALUES (%s, %s, %s, %s)", row)
    claimed = claim_from(sql, 2)
    assert (claimed.ids, claimed.took) == ([ids[1]], 2)
    assert line(sql) == [ids[2]]


def test_a_lane_with_very_many_priorities_is_claimed_in_order_too(sql: Sql) -> None:
    for priority in range(80):
        insert(sql, priority=priority * 7 % 80)
    expected, got, marks = line(sql), [], None
    while (batch := claim_from(sql, 9, marks)).ids:
        got += batch.ids
        marks = batch.near
    assert got == expected
    assert sql.execute("SELECT count(*) FROM lanes").fetchone() == (33,)


def test_marks_of_pools_that_a_claim_does_not_ask_are_kept(database: Database, sql: Sql) -> None:
    query = CLAIM.replace("NULL, NULL, NULL", "%(queues)s, %(limits)s, %(pools)s")

    def ask(queues: list[str], marks: str | None, strays: str | None = None, seen: str | None = None) -> list[Any]:
        parameters = {"types": ["plain"], "batch": 4, "marks": marks, "strays": strays, "seen": seen}
        pools = {"queues": queues, "limits": [2] * len(queues), "pools": list(range(len(queues)))}
        return sql.execute(query, {**parameters, **pools}).fetchall()

    for queue in ("one", "two"):
        for _ in range(5):
            sql.execute("INSERT INTO jobs (job_type, queue) VALUES ('plain', %s)", (queue,))
    both = ask(["one", "two"], None)
    assert both[0][4] == 4
    said = json.loads(both[0][3])
    with database.connect() as slow, slow.transaction():
        slow.execute("INSERT INTO jobs (job_type, queue, created_at) VALUES ('plain', 'two', now() - interval '1 h')")
    alone = ask(["one"], said["far"], said["strays"], said["seen"])
    said = json.loads(alone[0][3])
    assert (alone[0][4], said["near"].count("("), said["strays"].count("(")) == (2, 2, 1)
    last = ask(["two"], said["far"], said["strays"], said["seen"])
    assert value(sql, "queue", UUID(bytes=bytes(last[1][0]))) == "two"
    assert min(row[2] for row in last[1:]) < max(row[2] for row in last[1:]) - 3000, "the late one is among them"


def test_what_every_worker_has_read_of_the_list_is_swept(sql: Sql) -> None:
    def swept() -> int:
        sql.execute("SELECT sweep_late()")
        left = sql.execute("SELECT count(*) FROM late").fetchone()
        assert left is not None
        return int(left[0])

    insert(sql)
    assert swept() == 1, "a worker may not have read it"
    assert swept() == 1, "not twice in a minute"
    sql.execute("UPDATE settings SET late_swept_at = late_swept_at - interval '1 minute'")
    assert swept() == 0


def test_an_enqueue_alone_in_its_transaction_writes_nothing_down(app: Howdah, sql: Sql) -> None:
    @app.job()
    async def alone() -> None: ...

    alone.enqueue()
    assert sql.execute("SELECT count(*) FROM late").fetchone() == (0,)
    with psycopg.connect(app.sessions.url()) as conn:
        alone.using(conn=conn).enqueue()
    assert sql.execute("SELECT count(*) FROM late").fetchone() == (1,)


async def test_a_claimer_looks_before_its_near_marks_before_it_lies_down(database: Database, sql: Sql) -> None:
    job_id = insert(sql)
    row = sql.execute("SELECT lane, rank FROM ready").fetchone()
    assert row is not None
    beyond = f'{{"({row[0]},{row[1]},2100-01-01,00000000-0000-0000-0000-000000000000)"}}'
    taken: list[ClaimedJob] = []
    link = Link(database.url, Catalog(), "claims", Outage())
    claimer = Claimer(link, "w", ["plain"], Slots(make_pools({"default": None}, 5)), taken.extend, lambda: 0)
    # As after a flood: the last claim was full, and this job committed behind its near mark, its ring long used up.
    claimer._marks.learn(Start.HEAD, Haul([], True, None, Place(beyond), Place(None)))
    assert claimer._marks.choose() == (Start.NEAR, Place(beyond))
    claiming = asyncio.create_task(claimer.run(poll=600))
    await until_async(lambda: bool(taken), "found without a ring and without a poll")
    claimer.stop()
    await claiming
    await link.close()
    assert [UUID(bytes=job.id) for job in taken] == [job_id]


async def test_a_claimer_that_nobody_hears_claims_nothing_until_it_is_heard(database: Database, sql: Sql) -> None:
    job_id = insert(sql)
    taken: list[ClaimedJob] = []
    asked: list[bool] = []
    unheard = True

    def out_of_touch() -> bool:
        asked.append(unheard)
        return unheard

    link = Link(database.url, Catalog(), "claims", Outage())
    claimer = Claimer(link, "w", ["plain"], Slots(make_pools({"default": None}, 5)), taken.extend, lambda: 0)
    claimer.wait_while(out_of_touch)
    claiming = asyncio.create_task(claimer.run(poll=600))
    await until_async(lambda: len(asked) > 5, "it has looked several times")
    assert value(sql, "status", job_id) == "pending"
    assert taken == []
    unheard = False
    await until_async(lambda: bool(taken), "it claims at once")
    claimer.stop()
    await claiming
    await link.close()
    assert [UUID(bytes=job.id) for job in taken] == [job_id]
