"""The statements of the watch: their columns, and that they look nowhere but where the ids are."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import psycopg
import pytest

from howdah.db import arrays
from howdah.db.catalog import Catalog
from howdah.db.op import perform
from howdah.db.readable import read_everything
from howdah.model.update import Update
from howdah.watch import store
from howdah.watch.store import Rights
from tests.conftest import plan_lines

Sql = psycopg.Connection[Any]
EVERYTHING, NOTHING = Rights(lines=True, events=True, event_data=True), Rights(False, False, False)


def ids_of(sql: Sql, count: int) -> list[Any]:
    rows = sql.execute("SELECT enqueue_job('work') FROM generate_series(1, %s)", (count,)).fetchall()
    return [row[0] for row in rows]


@pytest.mark.parametrize("rights", [EVERYTHING, NOTHING])
def test_only_what_changed_is_told(sql: Sql, rights: Rights) -> None:
    first, second = ids_of(sql, 2)
    nobody = uuid4()
    looks = perform(sql, Catalog(), store.look_at({first: None, second: None, nobody: None}, rights))
    marks: dict[Any, int | None] = {look.job_id: look.mark for look in looks}
    assert marks.keys() == {first, second, nobody}
    assert marks[nobody] == store.NO_SUCH_JOB
    assert [look.update for look in looks if look.job_id == nobody] == [None]
    assert perform(sql, Catalog(), store.look_at(marks, rights)) == []
    sql.execute("UPDATE jobs SET current_stage = 'x' WHERE id = %s", (second,))
    (look,) = perform(sql, Catalog(), store.look_at(marks, rights))
    assert look.update is not None
    assert (look.job_id, look.update.stage) == (second, "x")
    sql.execute("DELETE FROM jobs WHERE id = %s", (first,))
    gone = [look for look in perform(sql, Catalog(), store.look_at(marks, rights)) if look.update is None]
    assert [look.job_id for look in gone] == [first]


def test_both_ways_to_look_see_the_same(sql: Sql) -> None:
    (job_id,) = ids_of(sql, 1)
    sql.execute(
        "UPDATE jobs SET status = 'failed', progress = 3, current_stage = 's', attempts = 2, last_error = 'e',"
        " worker_id = 'w', started_at = now(), completed_at = now(), run_at = 'infinity' WHERE id = %s",
        (job_id,),
    )
    read_everything(sql)
    (one,) = perform(sql, Catalog(), store.look_at({job_id: None}, EVERYTHING))
    (other,) = perform(sql, Catalog(), store.look_at({job_id: None}, NOTHING))
    assert (one.update, one.mark) == (other.update, other.mark)
    text = Catalog().text("watch/look_at").decode()
    columns = text.split("SELECT", 1)[1].split("FROM")[0].replace("\n", " ").split(",")
    named = {
        "current_stage": "stage",
        "attempts": "attempt",
        "to_be_cancelled": "cancel_requested",
        "error_end": "error",
    }
    names = [column.strip().removeprefix("j.") for column in columns[4:]]
    assert [named.get(name, name) for name in names] == list(Update.__dataclass_fields__)[1:17]


@pytest.mark.parametrize(("after", "left"), [(0, 3), (2, 1), (3, 0)])
def test_events_after_a_number(sql: Sql, after: int, left: int) -> None:
    job_id, other = ids_of(sql, 2)
    for one, count in ((job_id, 3), (other, store.EVENTS_PAGE + 1)):
        sql.execute(
            "INSERT INTO job_events (job_id, seq, attempt, name, data) SELECT %s, n, 1, 'e', '{}'"
            " FROM generate_series(1, %s) AS n",
            (one, count),
        )
    for rights in (EVERYTHING, NOTHING, Rights(lines=True, events=True, event_data=False)):
        found = perform(sql, Catalog(), store.read_events({job_id: after, other: 0}, rights))
        assert [event.seq for event in found[job_id]] == list(range(after + 1, 4))
        assert len(found[job_id]) == left
        assert [event.seq for event in found[other]] == list(range(1, store.EVENTS_PAGE + 1))
        hidden = rights.events and not rights.event_data
        assert {str(event.data) for event in found[other]} == {"None" if hidden else "{}"}


def test_what_is_found_is_bounded(sql: Sql) -> None:
    jobs = sorted(ids_of(sql, 5))
    sql.execute("SELECT count(*) FROM claim_job_batch('w', ARRAY['work'], 3)")
    held, newest = perform(sql, Catalog(), store.discover(10, 2))
    assert set(held) == set(jobs[:3])
    assert newest == [jobs[4], jobs[3]]
    held, newest = perform(sql, Catalog(), store.discover(1, 10))
    assert (len(held), len(newest)) == (1, 5)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("watch/look_at", {"marks": arrays.numbers([None])}),
        ("watch/read_events", {"after": arrays.numbers([0]), "page": 10}),
        ("watch/read_event_names", {"after": arrays.numbers([0]), "page": 10}),
    ],
)
def test_a_look_scans_no_table(sql: Sql, name: str, parameters: dict[str, Any]) -> None:
    values = {"ids": arrays.ids(ids_of(sql, 1)), **parameters}
    rows = sql.execute(b"EXPLAIN " + Catalog().text(name), values).fetchall()
    scans = [line for line in plan_lines("\n".join(row[0] for row in rows)) if "jobs" in line or "job_events" in line]
    assert scans
    assert all("Index" in line for line in scans), scans
