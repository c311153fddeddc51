"""Who may watch what: a producer the jobs whose ids it knows, a reader all of them but not what they carry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from howdah import DatabaseUnavailable, Howdah, Status
from howdah.db.catalog import Catalog
from howdah.db.link import BlockingLink, Outage
from howdah.worker.store import tell
from tests.rig.waiting import until
from tests.security.conftest import OWNER, Secured
from tests.security.manifest import ADMIN, PAYLOAD_READER, PRODUCER, READER, WORKER
from tests.watch.claiming import claim

Apps = Callable[[str], Howdah]


@pytest.fixture
def app_of(secured: Secured) -> Iterator[Apps]:
    made: list[Howdah] = []

    def make(who: str) -> Howdah:
        made.append(Howdah(secured.url(who)))
        return made[-1]

    yield make
    for app in made:
        app.close()


def held_job(secured: Secured, app_of: Apps) -> tuple[Any, Any, int]:
    """A job that has said something, held by a worker in plain SQL: the job, its worker's connection, its lease."""
    producer = app_of(PRODUCER)

    @producer.job()
    def work() -> None: ...

    job = work.enqueue()
    sql = secured.connect(WORKER)
    sql.execute("SET search_path TO howdah")
    _, lease = claim(sql, "work")
    sql.execute("SELECT record_event(%s, %s, 'said', '\"secret\"')", (job.id, lease))
    return job, sql, lease


@pytest.mark.parametrize(
    ("who", "data"), [(PRODUCER, "secret"), (READER, None), (PAYLOAD_READER, "secret"), (OWNER, "secret")]
)
def test_by_id(secured: Secured, app_of: Apps, who: str, data: str | None) -> None:
    job, sql, lease = held_job(secured, app_of)
    watch = app_of(who).watch(job.id, timeout=30)
    update = next(watch)
    assert (update.status, [event.data for event in update.events]) == (Status.CLAIMED, [data])
    sql.execute("SELECT fail_job(%s, %s, 'an error', NULL, true)", (job.id, lease))
    (last,) = list(watch)
    assert (last.status, last.error) == (Status.FAILED, None if who == READER else "an error")
    sql.close()


@pytest.mark.parametrize("who", [READER, PAYLOAD_READER])
def test_readers_may_watch_by_a_filter(secured: Secured, app_of: Apps, who: str) -> None:
    job, sql, _ = held_job(secured, app_of)
    assert next(app_of(who).watch(job_types="work", timeout=30)).job_id == job.id
    sql.close()


@pytest.mark.parametrize("who", [PRODUCER, ADMIN, WORKER])
def test_others_may_not(secured: Secured, app_of: Apps, who: str) -> None:
    with pytest.raises(DatabaseUnavailable, match="no rights: permission denied"):
        next(app_of(who).watch(timeout=30))


def test_what_one_watcher_may_not_do_does_not_hurt_another(secured: Secured, app_of: Apps) -> None:
    job, sql, lease = held_job(secured, app_of)
    producer = app_of(PRODUCER)
    watch = producer.watch(job.id, timeout=30)
    assert next(watch).status is Status.CLAIMED
    with pytest.raises(DatabaseUnavailable, match="no rights"):
        next(producer.watch(timeout=30))
    sql.execute("SELECT complete_job(%s, %s)", (job.id, lease))
    assert [update.status for update in watch] == [Status.COMPLETED]
    sql.close()


def test_a_worker_rings_for_watchers(secured: Secured, app_of: Apps) -> None:
    """With the rights of its role, and without a word in its log: whether somebody watches is no secret."""
    job, sql, _ = held_job(secured, app_of)
    link = BlockingLink(secured.url(WORKER), Catalog(), "pulse", Outage())
    assert link.perform(tell()) is False
    watch = app_of(PRODUCER).watch(job.id, timeout=30)
    next(watch)
    assert until(lambda: link.perform(tell()), "the watcher is noticed")
    link.close()
    sql.close()
