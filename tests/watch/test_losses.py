"""Lost connections, lost servers, slow watchers and very many of them: no gap, no repetition, one reader."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest

from howdah import Howdah, Job, SchemaMissing, Status, Update
from howdah.db.reader import Reader
from howdah.watch.mailbox import EVENTS_KEPT
from howdah.watch.store import EVENTS_PAGE
from tests.conftest import majors
from tests.rig.servers import TestServer
from tests.rig.waiting import until
from tests.watch.claiming import claim

Sql = psycopg.Connection[Any]


def define(app: Howdah) -> Any:
    @app.job()
    def work() -> None: ...

    return work


def say(sql: Sql, job_id: UUID, lease: int, names: list[str]) -> None:
    for name in names:
        sql.execute("SELECT record_event(%s, %s, %s)", (job_id, lease, name))


def cut(sql: Sql) -> int:
    """End every reader's session; how many there were."""
    return len(
        sql.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'howdah watch' AND datname = current_database()"
        ).fetchall()
    )


class Listener:
    """Takes every update of a job in a thread of its own."""

    def __init__(self, job: Job[Any]) -> None:
        self.updates: list[Update] = []
        self._watch = job.watch(timeout=60)
        self._thread = threading.Thread(target=lambda: self.updates.extend(iter(self._noted())), daemon=True)
        self._thread.start()

    def _noted(self) -> Iterator[Update]:
        yield from self._watch

    @property
    def seqs(self) -> list[int]:
        return [event.seq for update in list(self.updates) for event in update.events]

    def ended(self) -> None:
        self._thread.join(60)
        assert not self._thread.is_alive()


def test_cut_connections_make_neither_gaps_nor_repetitions(app: Howdah, sql: Sql) -> None:
    job = define(app).enqueue()
    job_id, lease = claim(sql, "work")
    listener = Listener(job)
    until(lambda: listener.updates, "the first look")
    for round_ in range(10):
        say(sql, job_id, lease, ["before", "it"])
        assert cut(sql) <= 1
        say(sql, job_id, lease, ["was", "cut"])
        until(lambda n=4 * round_ + 4: len(listener.seqs) >= n, "all events of the round")  # type: ignore[misc]  # a loop's value
    sql.execute("SELECT complete_job(%s, %s)", (job_id, lease))
    listener.ended()
    assert listener.seqs == list(range(1, 41))
    assert [update.status for update in listener.updates if update.finished] == [Status.COMPLETED]


def test_a_look_that_breaks_between_job_and_events_has_told_nothing(
    app: Howdah, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cut comes at the worst moment: after the job was seen to have ended, before its last events were read."""
    cuts: list[str] = []
    perform = Reader.perform

    def cut_in_between(reader: Reader, operation: Any) -> Any:
        if operation.__name__ == "read_events" and len(cuts) < 3:
            cuts.append("cut")
            cut(sql)
        return perform(reader, operation)

    job = define(app).enqueue()
    job_id, lease = claim(sql, "work")
    told = job.watch(timeout=30)
    assert next(told).status is Status.CLAIMED
    monkeypatch.setattr(Reader, "perform", cut_in_between)
    with sql.transaction():
        say(sql, job_id, lease, ["a", "b"])
        sql.execute("SELECT complete_job(%s, %s)", (job_id, lease))
    (update,) = list(told)
    assert (update.status, [event.name for event in update.events]) == (Status.COMPLETED, ["a", "b"])
    assert len(cuts) == 3


def test_a_restart_of_the_server_is_waited_for() -> None:
    server = TestServer(next(iter(majors().values())))
    try:
        url = server.embedded.url(server.create_database())
        app = Howdah(url)
        job = define(app).enqueue()
        with psycopg.connect(url, autocommit=True) as sql:
            sql.execute("SET search_path TO howdah")
            job_id, lease = claim(sql, "work")
            listener = Listener(job)
            say(sql, job_id, lease, ["before"])
            until(lambda: listener.seqs == [1], "the first event")
        server.embedded.stop()
        until(lambda: listener._watch.lost, "the watch notices")
        server.embedded.acquire()
        with psycopg.connect(url, autocommit=True) as sql:
            sql.execute("SET search_path TO howdah")
            say(sql, job_id, lease, ["after"])
            sql.execute("SELECT complete_job(%s, %s)", (job_id, lease))
        listener.ended()
        assert listener.seqs == [1, 2]
        assert listener.updates[-1].status is Status.COMPLETED
        app.close()
    finally:
        server.close()


def test_a_slow_watcher_misses_no_event_no_status_and_no_end(app: Howdah, sql: Sql) -> None:
    job = define(app).enqueue()
    told, brisk = job.watch(timeout=60), job.watch(timeout=60)
    assert next(told).status is next(brisk).status is Status.PENDING
    job_id, lease = claim(sql, "work")
    assert next(brisk).status is Status.CLAIMED
    for percent in range(1, 20):
        sql.execute("SELECT report_progress(%s, %s, %s)", (job_id, lease, percent))
        assert next(brisk).progress == percent
    many = EVENTS_KEPT + 3 * EVENTS_PAGE
    sql.execute(
        "INSERT INTO job_events (job_id, seq, attempt, name) SELECT %s, n, 1, 'e' FROM generate_series(1, %s) AS n",
        (job_id, many),
    )
    sql.execute("UPDATE jobs SET events_count = %s WHERE id = %s", (many, job_id))
    sql.execute("SELECT complete_job(%s, %s)", (job_id, lease))
    last = list(brisk)[-1]
    assert last.status is Status.COMPLETED, "another watcher's slowness is not this one's"
    assert len(told._subscription.mailbox._waiting[job.id]) == 3, "nineteen reports are one"
    held = sum(len(update.events) for update in told._subscription.mailbox._waiting[job.id])
    assert EVENTS_KEPT <= held < EVENTS_KEPT + EVENTS_PAGE, "the rest waits in the database"
    updates = list(told)
    assert [event.seq for update in updates for event in update.events] == list(range(1, many + 1))
    statuses = list(dict.fromkeys(update.status for update in updates))
    assert statuses == [Status.CLAIMED, Status.RUNNING, Status.COMPLETED]
    assert updates[1].progress == 19


async def test_a_thousand_watchers_cost_as_much_as_one(app: Howdah, sql: Sql) -> None:
    jobs = define(app).enqueue_many([{}] * 1000)

    async def look_for(count: int) -> float:
        """Transactions a second on the server while so many watch, each a job of its own."""
        watches = [job.watch(timeout=60) for job in jobs[:count]]
        await asyncio.gather(*(anext(watch) for watch in watches))
        before = transactions()
        await asyncio.sleep(2)
        spent = transactions() - before
        assert cut(sql) == 1, "one reader"
        for watch in watches:
            watch.close()
        return spent / 2

    def transactions() -> int:
        row = sql.execute(
            "SELECT pg_stat_force_next_flush(), pg_stat_clear_snapshot(), xact_commit FROM pg_stat_database"
            " WHERE datname = current_database()"
        ).fetchone()
        assert row is not None
        return int(row[2])

    one, many = await look_for(1), await look_for(1000)
    assert 0 < many <= 12, (one, many)
    assert one <= 12


def test_what_waiting_cannot_mend_is_told(app: Howdah, sql: Sql) -> None:
    job = define(app).enqueue()
    watch = job.watch(timeout=30)
    assert next(watch).status is Status.PENDING
    sql.execute("DROP VIEW job_lines")
    with pytest.raises(SchemaMissing, match="job_lines"):
        next(watch)
