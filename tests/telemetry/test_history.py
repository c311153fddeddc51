"""The history that workers keep in the database: what is written, what is read, and that it stays small."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import pairwise
from typing import Any

import psycopg
import pytest

from howdah import Howdah
from howdah.admin.history import reading, store
from howdah.admin.history.depths import QueueMetrics
from howdah.admin.history.views import By
from howdah.db.bounded import BoundedSession
from howdah.db.catalog import Catalog
from howdah.db.link import Link, Outage
from howdah.db.op import Operation
from howdah.maintenance.chores import Chores
from howdah.model.errors import OptionError
from tests.conftest import Database

Sql = psycopg.Connection[Any]
Run = Callable[[Operation[Any]], Any]
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def run(app: Howdah) -> Run:
    return lambda operation: app.sessions.run(lambda: operation, repeatable=False)


def record(sql: Sql, *rows: dict[str, Any]) -> None:
    sql.execute("SELECT record_stats(%s::jsonb)", (json.dumps(rows),))


def some(queue: str = "q", job_type: str = "t", **counts: Any) -> dict[str, Any]:
    return {"queue": queue, "job_type": job_type, **counts}


def test_what_two_workers_say_adds_up_in_every_series_above(sql: Sql, run: Run) -> None:
    record(sql, some(completed=3, ran=[0, 2, 1], ran_seconds=0.5), some("q", "u", failed=1))
    record(sql, some(completed=2, started=4, ran=[1, 0, 0, 1], ran_seconds=0.25), some("r", "t", completed=1))
    for queue, job_type, completed, failed in [
        (None, None, 6, 1),
        ("q", None, 5, 1),
        ("q", "t", 5, 0),
        (None, "t", 6, 0),
        ("r", None, 1, 0),
        ("q", "nothing", 0, 0),
    ]:
        for span, points in [(HOUR, 60), (DAY, 24), (7 * DAY, 7)]:
            history = run(reading.series(span, queue=queue, job_type=job_type, points=points))
            work = history.points[-1].work
            before = history.points[-2].work  # the minute may have turned between writing and reading
            seen = (work.completed + before.completed, work.failed + before.failed)
            assert seen == (completed, failed), (queue, job_type, span)
            assert len(history.points) <= points + 1
    last = run(reading.total(HOUR))
    assert last.ran.counts == (1, 2, 1, 1)
    assert last.ran.seconds == pytest.approx(0.75)
    assert (last.started, last.ended) == (4, 7)


def test_points_have_no_gaps_and_the_last_one_is_still_under_way(sql: Sql, run: Run) -> None:
    sql.execute(
        "INSERT INTO stats (per, at, queue, job_type, completed, waiting, oldest_seconds) "
        "SELECT 'minute', date_trunc('minute', now()) - n * interval '1 minute', '', '', n, n, 2 * n "
        "FROM generate_series(1, 30, 2) AS n"
    )
    by_minute = run(reading.series(HOUR, points=60)).points
    assert 59 <= len(by_minute) <= 61
    assert {b.at - a.at for a, b in pairwise(by_minute)} == {timedelta(minutes=1)}
    assert sum(point.work.completed for point in by_minute) == sum(range(1, 30, 2))
    assert {point.seconds for point in by_minute[:-1]} == {60.0}
    assert 0 <= by_minute[-1].seconds <= 60
    by_five = run(reading.series(HOUR, points=12)).points
    assert sum(point.work.completed for point in by_five) == sum(range(1, 30, 2))
    # Of a step with several minutes, the worst.
    assert max(point.waiting or 0 for point in by_five) == 29
    assert max(point.oldest_seconds or 0 for point in by_five) == 58
    row = sql.execute("SELECT now() - interval '20 minutes'").fetchone()
    assert row is not None
    earlier = run(reading.series(timedelta(minutes=10), until=row[0], points=60)).points
    assert 0 < sum(point.work.completed for point in earlier) < sum(range(21, 31, 2)) + 1


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        (By.QUEUE, [("b", None, 5), ("a", None, 3)]),
        (By.TYPE, [(None, "x", 6), (None, "y", 2)]),
        (By.PAIR, [("b", "x", 5), ("a", "y", 2), ("a", "x", 1)]),
    ],
)
def test_a_breakdown_names_the_busiest_first(sql: Sql, run: Run, by: By, expected: list[Any]) -> None:
    record(sql, some("a", "x", completed=1), some("a", "y", completed=2), some("b", "x", completed=5))
    for span in (HOUR, DAY):
        found = run(reading.breakdown(span, by))
        assert [(share.queue, share.job_type, share.work.completed) for share in found] == expected


def test_what_has_no_series_of_its_own_is_counted_as_other(sql: Sql, run: Run) -> None:
    for start in range(0, 400, 40):
        record(sql, *(some(f"q{n % 3}", f"type {n}", completed=1) for n in range(start, start + 40)))
    rows = sql.execute("SELECT per, count(*) FROM stats GROUP BY per, at").fetchall()
    assert all(count <= 152 for _, count in rows), rows
    assert run(reading.total(DAY)).completed == 400
    by_type = run(reading.breakdown(DAY, By.TYPE))
    assert by_type[-1].is_other
    assert sum(share.work.completed for share in by_type) == 400
    # Queues came first, so they are whole.
    assert [share.work.completed for share in run(reading.breakdown(DAY, By.QUEUE))] == [134, 133, 133]
    # Who was there before the list was full goes on being counted.
    record(sql, some("q0", "type 0", completed=10))
    assert next(s for s in run(reading.breakdown(DAY, By.TYPE)) if s.job_type == "type 0").work.completed == 11


def test_a_caller_who_has_lost_count_is_counted_in_the_sums(sql: Sql, run: Run) -> None:
    record(sql, some("", "", completed=2), some("q", "", completed=3), some(completed=5))
    names = sql.execute("SELECT queue, job_type, completed FROM stats WHERE per = 'hour' ORDER BY 1, 2").fetchall()
    assert names == [("", "", 10), ("q", "", 8), ("q", "t", 5)]
    assert run(reading.breakdown(HOUR, By.PAIR))[-1].work.completed == 5


def test_old_rows_go_and_the_others_stay(sql: Sql) -> None:
    sql.execute(
        "INSERT INTO stats (per, at, queue, job_type) "
        "SELECT per, now() - age * interval '1 hour', '', '' "
        "FROM (VALUES ('minute', 1), ('minute', 23), ('minute', 25), ('hour', 25), ('hour', 740), ('hour', 750)) "
        "AS t (per, age)"
    )
    sql.execute("SELECT prune_stats()")
    left = sql.execute("SELECT per, round(extract(epoch FROM now() - at) / 3600) FROM stats ORDER BY 1, 2").fetchall()
    assert [(per, int(age)) for per, age in left] == [("hour", 25), ("hour", 740), ("minute", 1), ("minute", 23)]


def test_depths_and_their_samples(sql: Sql, run: Run) -> None:
    sql.execute("INSERT INTO jobs (job_type, queue) SELECT 'a', 'q' FROM generate_series(1, 5)")
    sql.execute("INSERT INTO jobs (job_type, queue, created_at) VALUES ('a', 'q', now() - interval '1 hour')")
    # Due only since a minute ago, however long ago it was enqueued.
    sql.execute(
        "INSERT INTO jobs (job_type, queue, created_at, run_at) "
        "VALUES ('b', 'q', now() - interval '9 hours', now() - interval '1 minute')"
    )
    sql.execute("INSERT INTO jobs (job_type, run_at) SELECT 'c', now() + interval '1 hour' FROM generate_series(1, 3)")
    sql.execute("SELECT pause('type', 'c')")
    depths = {(d.queue, d.job_type): d for d in run(store.read_depths())}
    a, b, c = depths["q", "a"], depths["q", "b"], depths["default", "c"]
    assert (a.ready, b.ready, c.ready, c.scheduled) == (6, 1, 0, 3)
    assert a.oldest_seconds == pytest.approx(3600, abs=30)
    assert b.oldest_seconds == pytest.approx(60, abs=30)
    assert (a.paused, c.paused, c.oldest_seconds) == (False, True, None)
    assert {d.job_type: d.ready for d in run(store.read_depths(most=4))} == {"a": 4, "b": 1, "c": 0}
    turns = [sql.execute("SELECT begin_sample('1 minute')").fetchone() for _ in range(2)]
    assert turns == [(True,), (False,)]
    sql.execute("SELECT sample_queues()")
    point = max(run(reading.series(HOUR)).points, key=lambda point: point.waiting or 0)
    assert (point.waiting, point.oldest_seconds) == (7, pytest.approx(3600, abs=30))
    assert max(p.waiting or 0 for p in run(reading.series(HOUR, queue="q", job_type="b")).points) == 1


@pytest.mark.parametrize(("span", "points"), [(timedelta(0), 60), (timedelta(days=32), 60), (HOUR, 0), (HOUR, 1501)])
def test_a_span_or_a_number_of_points_that_makes_no_sense_is_refused(run: Run, span: timedelta, points: int) -> None:
    with pytest.raises(OptionError, match=r"31 days|1 to 1500"):
        run(reading.series(span, points=points))


@pytest.mark.parametrize(
    ("span", "points", "step"),
    [
        (HOUR, 60, timedelta(minutes=1)),
        (HOUR, 59, timedelta(minutes=2)),
        (DAY, 100, timedelta(minutes=15)),
        (DAY, 24, HOUR),
        (timedelta(days=2), 200, HOUR),
        (timedelta(days=31), 31, DAY),
        (timedelta(days=31), 1, timedelta(days=31)),
    ],
)
def test_steps_are_those_of_a_clock(span: timedelta, points: int, step: timedelta) -> None:
    assert reading.choose_step(span, points) == step


def test_workers_that_write_at_once_neither_lose_a_count_nor_wait_in_a_circle(database: Database, run: Run) -> None:
    def write(number: int) -> None:
        with database.connect() as own:
            own.execute("SET deadlock_timeout = '50ms'")
            names = [f"type {n}" for n in range(12)]
            for turn in range(15):
                # Each names them in another order.
                order = sorted(names, key=lambda name: hash((name, number, turn)))
                record(own, *(some("q", name, completed=1, ran=[0, 1]) for name in order))

    with ThreadPoolExecutor(6) as threads:
        for done in [threads.submit(write, number) for number in range(6)]:
            done.result()
    total = run(reading.total(DAY))
    assert (total.completed, total.ran.counts) == (6 * 15 * 12, (0, 6 * 15 * 12))
    assert {share.work.completed for share in run(reading.breakdown(DAY, By.TYPE))} == {6 * 15}


@pytest.mark.parametrize(
    "nonsense",
    [
        '{"no": "array"}',
        "[7]",
        '[{"queue": "q", "job_type": "t", "completed": "many"}]',
        '[{"queue": "q", "job_type": "t", "ran": {"a": 1}}]',
        '[{"queue": "' + "q" * 51 + '", "job_type": "t"}]',
    ],
)
def test_nonsense_is_refused_and_changes_nothing(sql: Sql, nonsense: str) -> None:
    with pytest.raises(psycopg.Error):
        sql.execute("SELECT record_stats(%s::jsonb)", (nonsense,))
    assert sql.execute("SELECT count(*) FROM stats").fetchone() == (0,)


async def test_one_worker_of_the_fleet_looks_at_the_queues(database: Database, sql: Sql, run: Run) -> None:
    sql.execute("INSERT INTO jobs (job_type) SELECT 'a' FROM generate_series(1, 5)")
    link = Link(database.url, Catalog(), "maintenance", Outage())
    for _ in range(2):
        await Chores(link, 30, lambda: None).look_after_retention()
        sql.execute("INSERT INTO jobs (job_type) VALUES ('a')")
    assert max(point.waiting or 0 for point in run(reading.series(HOUR)).points) == 5, "the second had no turn"
    sql.execute("UPDATE settings SET sampled_at = now() - interval '41 seconds', swept_at = '-infinity'")
    sql.execute("INSERT INTO stats (per, at, queue, job_type) VALUES ('hour', '2020-01-01', '', '')")
    await Chores(link, 30, lambda: None).look_after_retention()
    await link.close()
    assert max(point.waiting or 0 for point in run(reading.series(HOUR)).points) == 7
    assert sql.execute("SELECT count(*) FROM stats WHERE at < '2021-01-01'").fetchone() == (0,), "swept"


def test_depths_are_asked_for_seldom_and_a_failure_is_kept_as_well(database: Database, sql: Sql) -> None:
    sql.execute("INSERT INTO jobs (job_type) VALUES ('a')")
    opened: list[BoundedSession] = []

    def open_session() -> BoundedSession:
        opened.append(BoundedSession(database.url, Catalog(), "metrics", timedelta(milliseconds=300)))
        return opened[-1]

    metrics = QueueMetrics(open_session, kept_seconds=3600)
    assert 'howdah_queue_ready_jobs{queue="default",job_type="a"} 1\n' in metrics.text()
    sql.execute("INSERT INTO jobs (job_type) VALUES ('a')")
    assert 'job_type="a"} 1\n' in metrics.text(), "not asked again"
    metrics.close()
    now = QueueMetrics(open_session, kept_seconds=0)
    assert 'job_type="a"} 2\n' in now.text()
    with sql.transaction():
        sql.execute("LOCK TABLE lanes")
        assert "howdah_queues_up 0\n" in now.text(), "it does not wait for long"
    assert "howdah_queues_up 1\n" in now.text(), "and recovers"
    assert len(opened) == 3
    now.close()
    nowhere = QueueMetrics(lambda: BoundedSession("postgresql://x@127.0.0.1:1/x", Catalog(), "metrics", HOUR))
    assert [line for line in nowhere.text().splitlines() if not line.startswith("#")] == ["howdah_queues_up 0"]
