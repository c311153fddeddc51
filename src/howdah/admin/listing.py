"""Lists jobs newest first, from wherever they are found fastest.

The ledger has no index but its primary key. What waits stands in the lines, what is held stands in the claims: both are
small, whatever the ledger holds. Everything else is searched for from the newest job backwards, and not without end.
"""

from __future__ import annotations

from uuid import UUID

from howdah.admin import store
from howdah.admin.views import JobFilter, JobLine, Page
from howdah.db.op import Operation
from howdah.model.status import Status

_HELD = {Status.CLAIMED, Status.RUNNING}


def list_jobs(
    wanted: JobFilter,
    before: UUID | None = None,
    limit: int = 20,
    look: int = store.LOOK_LIMIT,
    most: int = store.COUNT_LIMIT,
) -> Operation[Page]:
    """At most `limit` jobs, newest first, older than `before`."""
    found: list[JobLine] | None = None
    statuses = set(wanted.statuses)
    if statuses == {Status.PENDING} and wanted.worker_id is None:
        found = yield from store.list_waiting(wanted, before, limit, most)
    elif statuses and statuses <= _HELD:
        found = yield from store.list_held(wanted, before, limit, most)
    if found is not None:
        return Page(found)
    found = yield from store.list_ledger(wanted, before, limit, look)
    if len(found) >= limit or not wanted.selects:
        return Page(found)
    return Page(found, searched_to=(yield from store.find_search_end(before, look)))
