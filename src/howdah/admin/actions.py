"""Orders for jobs by their ids, done at once and put on record: cancel, retry, run now, priority, queue, delete."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from howdah.admin import order_store
from howdah.admin.orders import Answer, Change
from howdah.db.faults import is_busy
from howdah.db.op import Operation
from howdah.model.errors import JobBusy, OptionError

#: More than this is a bulk operation.
IDS_LIMIT = 500


def order(change: Change, ids: Sequence[UUID], who: str) -> Operation[list[Answer]]:
    """Do it to all of them at once; an answer for each that was found, in the order given. Safe to repeat."""
    unique = list(dict.fromkeys(ids))
    if not 1 <= len(unique) <= IDS_LIMIT:
        raise OptionError(f"{len(unique):,} jobs are named; 1 to {IDS_LIMIT} can be changed at once")
    try:
        answers = yield from order_store.administer(change, unique, who)
    except Exception as error:
        if not is_busy(error):
            raise
        raise JobBusy("another transaction holds one of these jobs, and nothing was done; try again") from error
    places = {job_id: place for place, job_id in enumerate(unique)}
    return sorted(answers, key=lambda answer: places[answer.job_id])
