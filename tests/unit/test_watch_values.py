"""The pure parts of the watch: remaining time, pace, and what is joined in a mailbox."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from howdah.model.job import JobEvent
from howdah.model.status import Status
from howdah.model.update import Update, time_left
from howdah.watch.mailbox import EVENTS_KEPT, STATUSES_KEPT, Mailbox
from howdah.watch.pace import AT_LEAST, LATEST, SOONEST, Pace

NOW = datetime(2030, 1, 1, tzinfo=UTC)
UPDATE = Update(
    job_id=uuid4(),
    job_type="work",
    queue="default",
    priority=100,
    status=Status.RUNNING,
    progress=0,
    stage=None,
    attempt=1,
    max_attempts=3,
    worker_id=None,
    created_at=NOW,
    run_at=None,
    started_at=NOW,
    completed_at=None,
    cancel_requested=False,
    error=None,
    events_count=0,
)


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


@pytest.mark.parametrize(
    ("progress", "elapsed", "silent", "left"),
    [
        (50, 10, 0, 10),
        (25, 10, 0, 30),
        (25, 10, 12, 18),
        (25, 10, 99, 0),
        (99, 99, 0, 1),
        (0, 10, 0, None),
        (100, 10, 0, None),
        (50, -1, 0, None),
    ],
)
def test_the_rest_takes_as_long_as_the_beginning_did(
    progress: int, elapsed: int, silent: int, left: int | None
) -> None:
    expected = None if left is None else seconds(left)
    assert time_left(progress, seconds(elapsed), seconds(silent)) == expected


def test_looks_become_rarer_while_nothing_happens_and_when_they_take_long() -> None:
    pace = Pace()
    rests = [pace.rest(changed=False, jobs=1, took=0) for _ in range(20)]
    assert rests == sorted(rests)
    assert rests[-1] == LATEST
    assert pace.rest(changed=True, jobs=1, took=0) == SOONEST
    assert pace.at_least == AT_LEAST
    assert pace.rest(changed=True, jobs=1000, took=0) == pace.at_least == pytest.approx(0.3)
    assert pace.rest(changed=True, jobs=1, took=0.1) == pytest.approx(2)
    assert pace.at_least == pytest.approx(1)


def test_what_is_not_taken_is_joined_and_the_last_is_kept() -> None:
    mailbox = Mailbox(lambda: None)
    for attempt in range(100):
        event = JobEvent(attempt + 1, NOW, attempt, "e", None)
        for progress in (1, 2):
            mailbox.put(replace(UPDATE, attempt=attempt, progress=progress, events=(event,) if progress == 1 else ()))
    mailbox.put(replace(UPDATE, attempt=100, status=Status.FAILED))
    mailbox.end()
    taken = [update for _ in range(STATUSES_KEPT) if (update := mailbox.take())]
    with pytest.raises(StopIteration):
        mailbox.take()
    assert len(taken) == STATUSES_KEPT
    assert [update.progress for update in taken[:-1]] == [2] * (STATUSES_KEPT - 1)
    assert taken[-1].status is Status.FAILED
    assert [event.seq for update in taken for event in update.events] == list(range(1, 101)), "no event is dropped"


def test_jobs_take_turns_and_room_is_told() -> None:
    rooms: list[str] = []
    mailbox = Mailbox(lambda: rooms.append("room"))
    many = tuple(JobEvent(n, NOW, 1, "e", None) for n in range(EVENTS_KEPT))
    other = uuid4()
    mailbox.put(replace(UPDATE, events=many))
    mailbox.put(replace(UPDATE, status=Status.COMPLETED))
    mailbox.put(replace(UPDATE, job_id=other))
    assert not mailbox.has_room
    order = [mailbox.take(), mailbox.take(), mailbox.take()]
    assert [update.job_id for update in order if update] == [UPDATE.job_id, other, UPDATE.job_id]
    assert rooms == ["room"]
    assert mailbox.take() is None
