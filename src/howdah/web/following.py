"""Jobs as they go, put into a viewer's inbox. All viewers share the one reader of the watch."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from howdah.model.errors import JobNotFound
from howdah.model.job import JobEvent
from howdah.model.update import Update
from howdah.watch.selection import Selection
from howdah.watch.stream import Watch
from howdah.web import wording
from howdah.web.access import User
from howdah.web.desk import Desk
from howdah.web.live import Inbox

#: After this event there are no others: a list of jobs shows none.
NO_EVENTS = 2**31 - 1
_SECONDS = 1.0


async def follow_jobs(desk: Desk, user: User, ids: Sequence[UUID], after: int | None, inbox: Inbox) -> None:
    """Tell every change of these jobs, and the events of the one that is looked at; `after`: the last one shown."""
    with desk.client.watch(Selection(tuple(ids)), after=NO_EVENTS if after is None else after) as watch:
        looking_after = asyncio.create_task(_tell_outages(watch, inbox))
        try:
            async for update in watch:
                inbox.put("job", row_of(update, user))
                if update.events and after is not None:
                    events = [event_of(event, desk, user) for event in update.events]
                    inbox.put("events", {"id": str(update.job_id), "events": events})
        except JobNotFound:
            # It is past its retention; the page says so when it is loaded again.
            return
        finally:
            looking_after.cancel()


async def _tell_outages(watch: Watch, inbox: Inbox) -> None:
    """The watch goes on by itself when the database is back; the reader wants to know meanwhile."""
    lost = False
    while True:
        if watch.lost != lost:
            lost = watch.lost
            inbox.put("database", {"lost": lost})
        await asyncio.sleep(_SECONDS)


def row_of(update: Update, user: User) -> dict[str, Any]:
    """What a page shows of a job, as text that is ready to be put in."""
    row = {
        "id": str(update.job_id),
        "status": "gone" if update.gone else str(update.status),
        "progress": update.progress,
        "stage": update.stage or "",
        "attempts": f"{update.attempt} / {update.max_attempts}",
        "worker": update.worker_id or wording.NOTHING,
        "eta": eta_text(update),
    }
    if user.payloads:
        row["error"] = wording.last_line(update.error) if update.error else ""
    return row


def eta_text(update: Update) -> str:
    """`about 3m left`, or nothing."""
    return f"about {wording.duration(update.eta)} left" if update.eta is not None else ""


def event_of(event: JobEvent, desk: Desk, user: User) -> dict[str, Any]:
    """An event, with what it carries only for those who may see that."""
    shown = user.payloads and event.data is not None
    return {
        "seq": event.seq,
        "name": event.name,
        "at": wording.machine_time(event.at),
        "data": wording.short_json(desk.settings.redaction.apply(event.data)) if shown else None,
    }
