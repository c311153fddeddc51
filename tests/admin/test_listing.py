"""Finding jobs: each condition with at least two values, the ways to them, and the budget of a search."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from howdah import Howdah, Status
from howdah.admin import listing, store
from howdah.admin.filter_text import parse_filter
from howdah.admin.filters import JobFilter
from howdah.admin.listing import Budget, count_jobs, find_jobs, list_jobs
from howdah.admin.store import Window
from howdah.admin.views import Count, Page
from howdah.model.errors import TookTooLong
from tests.admin.conftest import Put, Run, Sql
from tests.conftest import Database

NOW = datetime.now(UTC)
OLD, NEW = NOW - timedelta(hours=3), NOW - timedelta(hours=1)
THIS: dict[str, Any] = {
    "status": "failed", "job_type": "a", "queue": "q", "worker_id": "w1", "priority": 10, "created_at": OLD,
    "started_at": OLD, "completed_at": OLD, "last_error": "Traceback:\nTimed OUT after 5 s",
    "data": {"user": {"id": 42, "tags": ["x", "y"]}, "plain": "42", "gone": None, 'odd "key".': True},
}  # fmt: skip
THAT: dict[str, Any] = {
    "status": "completed", "job_type": "b", "queue": "r", "worker_id": "w2", "priority": 20, "created_at": NEW,
    "started_at": NEW, "completed_at": NEW, "last_error": "ValueError: 7%_",
    "data": {"user": {"id": "42"}, "items": [{"n": 1}, {"n": 2.5}], "flag": False},
}  # fmt: skip
PAIRS = [
    ("status=failed", "status=completed"),
    ("status=failed,pending", "status=completed,running"),
    ("type=a", "type=b"),
    ("queue=q", "queue=r"),
    ("worker=w1", "worker=w2"),
    ("priority=10", "priority=20"),
    ("priority<15", "priority>15"),
    ("priority<=10", "priority>=20"),
    ("created<2h", "created>2h"),
    ("started<2h", "started>2h"),
    ("completed<2h", "completed>2h"),
    ("error~'timed out'", "error~%_"),
    ("error~TRACE", "error~valueerror"),
    ("data.user.id=42", "data.user.id='42'"),
    ("data.user.tags=y", "data.items.n=2.5"),
    ("data.plain", "data.items"),
    ("data.gone=null", "data.flag=false"),
    ("data.'odd \"key\".'=true", "data.flag"),
    ("data.user.id=42 data.plain='42' queue=q", "data.items.n=1 data.flag=false type=b"),
]


@pytest.mark.parametrize("way", ["ledger", "by id"])
def test_every_condition(run: Run, put: Put, way: str) -> None:
    ones, others = put(2, **THIS), put(3, **THAT)

    def found(text: str) -> list[UUID]:
        wanted = parse_filter(text)
        if way == "by id":
            ids = run(store.match_ids(wanted, NOW, [*ones, *others, *ones, uuid4()], None, 9))
            assert isinstance(ids, list)
            return ids
        ids, last = run(store.find_ids(wanted, NOW, Window(), 9, 9))
        assert last is None
        assert isinstance(ids, list)
        return ids

    for this, that in PAIRS:
        assert (found(this), found(that)) == (ones, others), (this, that)


def test_places_of_a_search(run: Run, put: Put) -> None:
    made = put(5, status="completed")
    everything = JobFilter()

    def found(window: Window, limit: int = 9, look: int = 9) -> list[UUID]:
        ids = run(store.find_ids(everything, NOW, window, limit, look))[0]
        assert isinstance(ids, list)
        return ids

    assert found(Window()) == made
    assert (found(Window(), limit=2), found(Window(), look=3)) == (made[:2], made[:3])
    assert (found(Window(made[0])), found(Window(made[3]))) == (made[1:], made[4:])
    assert (found(Window(None, made[1])), found(Window(made[1], made[3]))) == (made[:2], made[2:4])
    for limit, before in ((9, made[0]), (2, made[2])):
        assert run(store.match_ids(everything, NOW, made, before, limit)) == made[made.index(before) + 1 :][:limit]
    for wanted in (everything, JobFilter(error="none")):
        last = [
            run(store.find_ids(wanted, NOW, window, 1, look))[1]
            for window, look in [
                (Window(), 1), (Window(), 5), (Window(), 6), (Window(made[1]), 2), (Window(made[1], made[2]), 2),
            ]
        ]  # fmt: skip
        assert last == [made[0], made[4], None, made[3], None]


def test_what_waits_and_what_is_held(run: Run, put: Put, sql: Sql) -> None:
    first, second = put(3, job_type="a", queue="q"), put(2, job_type="b", queue="r", run_at=NOW + timedelta(hours=1))
    held = put(2, status="running", worker_id="w1") + put(1, status="claimed", worker_id="w2")

    def waiting(most: int = 9, **conditions: Any) -> list[UUID] | None:
        ids: list[UUID] | None = run(store.list_waiting_ids(JobFilter(**conditions), most))
        return ids if ids is None else sorted(ids, reverse=True)

    assert waiting() == second + first
    assert (waiting(job_type="a"), waiting(job_type="b")) == (first, second)
    assert (waiting(queue="q"), waiting(queue="r"), waiting(queue="s")) == (first, second, [])
    assert (waiting(2), waiting(3)) == (None, second + first)
    assert waiting(1, queue="r") is None
    assert sorted(run(store.list_held_ids(JobFilter(), 3))) == sorted(held)
    assert run(store.list_held_ids(JobFilter(), 2)) is None
    assert run(store.list_held_ids(JobFilter(worker_id="w2"), 2)) == held[2:]
    for text, expected in [
        ("status=pending,claimed", [held[2], *second, *first]),
        ("status=pending,claimed,running type=b", second),
        ("status=pending,running worker=w1", held[:2]),
        ("status=pending worker=w1", []),
    ]:
        found = run(find_jobs(parse_filter(text), budget=Budget(look=1, seconds=0)))
        assert (sorted(found.ids), found.searched_to) == (sorted(expected), None), text
    # A row of a line that is no longer true is not believed.
    done = put(1, status="completed")
    sql.execute("INSERT INTO ready SELECT lane_of('q', 'a'), 0, now(), id FROM jobs WHERE id = %s", done)
    assert run(find_jobs(parse_filter("status=pending"))).ids == second + first


def page_ids(page: Page) -> list[UUID]:
    return [line.id for line in page.jobs]


def test_they_are_found_where_that_is_fastest(run: Run, put: Put) -> None:
    old, new = put(3), put(5, status="completed")
    pending, failed = parse_filter("status=pending"), parse_filter("status=failed")
    tight = Budget(look=4, seconds=60)
    assert page_ids(run(list_jobs(pending, budget=tight))) == old, "from the line, however far down the ledger"
    capped = run(list_jobs(pending, budget=Budget(look=6, seconds=60, most=2)))
    assert (page_ids(capped), capped.searched_to, capped.looked) == (old[:1], old[0], 6)
    assert run(list_jobs(failed, budget=tight)).searched_to == new[3]
    assert run(list_jobs(failed, budget=Budget(look=9))).searched_to is None
    assert run(list_jobs(failed, before=new[3], budget=Budget(look=2))).searched_to == old[0]
    assert page_ids(run(list_jobs(JobFilter(), limit=3))) == new[:3]
    assert page_ids(run(list_jobs(JobFilter(ids=(old[1], new[2], uuid4()))))) == [new[2], old[1]]
    assert page_ids(run(list_jobs(JobFilter(ids=(old[1], new[2]), statuses=(Status.PENDING,))))) == [old[1]]


def test_a_search_gives_up_in_time_and_goes_on_where_it_was(
    run: Run, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "_FIRST_LOOK", 10)
    made = put(200, status="completed")
    (last,) = put(1, status="failed", id=UUID(int=made[-1].int - 1))
    wanted = parse_filter("status=failed")
    assert run(find_jobs(wanted, limit=1)).ids == [last], "in as many looks as it takes"
    found, pages = run(find_jobs(wanted, limit=1, budget=Budget(seconds=0))), 1
    assert (found.ids, found.searched_to, found.looked) == ([], made[9], 10)
    while found.searched_to is not None:
        found, pages = run(find_jobs(wanted, found.searched_to, 1, Budget(seconds=0))), pages + 1
    assert found.ids == [last]
    assert pages == 21


def test_while_others_come_and_go_nothing_is_missed_or_found_twice(
    run: Run, put: Put, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "_FIRST_LOOK", 5)
    monkeypatch.setattr(listing, "_LONGEST_LOOK", 20)
    expected = sorted((job for _ in range(20) for job in put(15, status="failed")), reverse=True)
    wanted = parse_filter("status=failed")
    over = threading.Event()

    def come_and_go() -> int:
        rounds = 0
        with database.connect() as sql:
            while not over.is_set():
                sql.execute("INSERT INTO jobs (job_type, status) SELECT 'b', 'completed' FROM generate_series(1, 7)")
                sql.execute("DELETE FROM jobs WHERE id = ANY (ARRAY(SELECT id FROM jobs WHERE job_type = 'b' LIMIT 6))")
                rounds += 1
        return rounds

    with ThreadPoolExecutor(1) as threads:
        others = threads.submit(come_and_go)
        try:
            for _ in range(20):
                assert run(find_jobs(wanted, limit=1000, budget=Budget(seconds=60))).ids == expected
        finally:
            over.set()
        assert others.result(30) > 0


def at_time(sql: Sql, time: datetime) -> list[UUID]:
    """Twenty jobs whose ids and times are of then, newest first."""
    rows = sql.execute(
        "INSERT INTO jobs (id, job_type, status, created_at, started_at, completed_at)"
        " SELECT (substr(job_id_at(%(t)s)::text, 1, 24) || lpad(n::text, 12, '0'))::uuid, 'a', 'completed',"
        " %(t)s, %(t)s, %(t)s FROM generate_series(1, 20) AS n RETURNING id",
        {"t": time},
    ).fetchall()
    return sorted((row[0] for row in rows), reverse=True)


def test_times_spare_most_of_the_ledger(run: Run, put: Put, sql: Sql) -> None:
    ages = [timedelta(days=day) for day in (0, 10, 20)]
    made = [at_time(sql, NOW - age) for age in ages]
    strange = (UUID(int=5), UUID(int=2**128 - 5))
    own = [put(1, id=one, status="completed", created_at=NOW - ages[1])[0] for one in strange]
    narrow = Budget(look=25, seconds=60)
    for text, expected in [
        ("created<15d", made[2]),
        ("created>5d", made[0]),
        ("created<5d created>15d", [own[1], *made[1], own[0]]),
        ("completed<15d", made[2]),
        ("started<15d", made[2]),
    ]:
        found = run(find_jobs(parse_filter(text), limit=50, budget=narrow))
        assert found.ids == expected, text
        assert found.searched_to is None
    first = run(find_jobs(parse_filter("created<5d created>15d"), limit=11, budget=narrow)).ids
    rest = run(find_jobs(parse_filter("created<5d created>15d"), before=first[-1], limit=50, budget=narrow)).ids
    assert first + rest == [own[1], *made[1], own[0]]


def test_counts_stop_and_say_so(run: Run, put: Put, sql: Sql) -> None:
    put(30, status="completed")
    put(10, status="failed")
    failed = parse_filter("status=failed")
    assert run(count_jobs(failed)) == Count(10, exact=True)
    assert run(count_jobs(failed, Budget(most=10))) == Count(10, exact=True)
    assert run(count_jobs(failed, Budget(most=9))) == Count(9, exact=False)
    assert run(count_jobs(failed, Budget(most=9))).words == "9+"
    sql.execute("ANALYZE jobs")
    assert run(count_jobs(failed, Budget(look=20))) == Count(10, exact=False, estimate=20)
    assert run(count_jobs(JobFilter(), Budget(most=5))) == Count(5, exact=False, estimate=40)
    assert run(count_jobs(JobFilter(), Budget(most=5))).words == "about 40"
    assert run(store.estimate_jobs()) == 40


def test_a_statement_that_takes_too_long_is_ended(app: Howdah, put: Put, sql: Sql) -> None:
    put(1)
    with sql.transaction():
        sql.execute("LOCK TABLE jobs")
        with pytest.raises(TookTooLong):
            app.sessions.run(lambda: list_jobs(JobFilter()), limit=timedelta(milliseconds=50))
    page = app.sessions.run(lambda: list_jobs(JobFilter()), limit=timedelta(seconds=5))
    assert len(page.jobs) == 1


async def test_a_statement_that_takes_too_long_is_ended_in_async_code(app: Howdah, put: Put, sql: Sql) -> None:
    put(1)
    with sql.transaction():
        sql.execute("LOCK TABLE jobs")
        with pytest.raises(TookTooLong):
            await app.sessions.run_async(lambda: list_jobs(JobFilter()), limit=timedelta(milliseconds=50))
    page = await app.sessions.run_async(lambda: list_jobs(JobFilter()), limit=timedelta(seconds=5))
    assert len(page.jobs) == 1
    await app.aclose()
