"""One job: what it is, how far it is, what became of its attempts, and what can be done about it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from howdah.admin.actions import order
from howdah.admin.attempt_store import list_attempts
from howdah.admin.orders import Answer, Change, Kind
from howdah.admin.why import Why, find_why
from howdah.client import store as client
from howdah.model.errors import JobNotFound, OptionError
from howdah.model.job import JobRecord
from howdah.model.status import Status
from howdah.model.update import time_left
from howdah.web import wording
from howdah.web.desk import Desk, Panel, desk_of, user_of
from howdah.web.guard import Form, first
from howdah.web.places import address_of, back_to
from howdah.web.rendering import render
from howdah.web.snippets import snippets
from howdah.web.timeline import attempts_of
from howdah.web.unsealing import open_attempts, open_events, open_job

EVENTS_SHOWN = 100


async def job(request: Request) -> Response:
    """The page of one job."""
    desk, user = desk_of(request), user_of(request)
    record = await _read(desk, request.path_params["job_id"])
    after = max(0, record.events_count - EVENTS_SHOWN)
    events, ended = await asyncio.gather(
        desk.panel(partial(client.list_events, record.id, after)), desk.panel(partial(list_attempts, record.id))
    )
    hide = desk.settings.redaction.apply
    data, result = (hide(record.data), hide(record.result)) if user.payloads else (None, None)
    address = f"{address_of(request)}/jobs/{record.id}"
    context = {
        "tab": "jobs",
        "job": record,
        "data": data,
        "result": result,
        "events": Panel(open_events(events.value or [], record, desk.app.keyring), events.problem),
        "event_data": hide if user.payloads else _nothing,
        "attempts": open_attempts(attempts_of(record, ended.value or []), record, desk.app.keyring),
        "eta": _eta(record),
        "why": await _why(desk, record),
        "snippets": snippets(record, data, address) if user.payloads else [],
        "live": f"jobs={record.id}&after={record.events_count}",
    }
    return render(request, "job.html", context)


async def job_json(request: Request) -> Response:
    """The same as JSON."""
    desk, user = desk_of(request), user_of(request)
    record = await _read(desk, request.path_params["job_id"])
    hide = desk.settings.redaction.apply
    shown = {name: getattr(record, name) for name in JobRecord.__dataclass_fields__}
    if user.payloads:
        shown.update(data=hide(record.data), result=hide(record.result))
    else:
        for name in ("data", "result", "last_error"):
            shown.pop(name)
    return JSONResponse({name: plain(value) for name, value in shown.items()})


async def act(request: Request, form: Form) -> Response:
    """Do something to the job, on record, and come back to its page."""
    desk = desk_of(request)
    job_id: UUID = request.path_params["job_id"]
    change = _read_change(request.path_params["action"], form)
    if change.kind is Kind.DELETE and first(form, "sure") != "1":
        record = await _read(desk, job_id)
        return render(request, "sure.html", {"tab": "jobs", "job": record})
    answers = await desk.change(partial(order, change, [job_id], user_of(request).name))
    if not answers:
        raise JobNotFound(f"There is no job {job_id}; it may be past its retention.")
    place = first(form, "back", "/jobs" if change.kind is Kind.DELETE else f"/jobs/{job_id}")
    return RedirectResponse(back_to(request, place, _said(change, answers[0])), 303)


def _read_change(action: str, form: Form) -> Change:
    kind = _KINDS.get(action)
    if kind is None:
        raise HTTPException(404)
    try:
        return Change.read(kind, first(form, action).strip() if kind in (Kind.PRIORITY, Kind.QUEUE) else None)
    except OptionError as error:
        raise HTTPException(400, str(error)) from None
    except ValueError:
        raise HTTPException(400, f"A priority is a whole number, not {first(form, action)[:60]!r}.") from None


def _said(change: Change, answer: Answer) -> str:
    """The word for what was done."""
    if not answer.changed:
        return "busy" if answer.answer in ("claimed", "running") and change.kind in _FOR_ENDED else "unchanged"
    if change.kind is Kind.CANCEL:
        return answer.answer
    return _DONE[change.kind]


async def _read(desk: Desk, job_id: UUID) -> JobRecord:
    record = await desk.look(partial(client.get_job, job_id))
    if record is None:
        raise JobNotFound(f"There is no job {job_id}; it may be past its retention.")
    return open_job(record, desk.app.keyring)


async def _why(desk: Desk, record: JobRecord) -> Panel[Why]:
    """Why it is not running, where that can be asked."""
    if record.status in (Status.PENDING, Status.CLAIMED):
        return await desk.panel(partial(find_why, record.id))
    return Panel(None)


def _eta(record: JobRecord) -> timedelta | None:
    if record.status is not Status.RUNNING or record.started_at is None:
        return None
    return time_left(record.progress, wording.now() - record.started_at)


def plain(value: Any) -> Any:
    """A value as JSON holds it."""
    if isinstance(value, dict | list | str | int | float | bool | None):
        return value
    return wording.machine_time(value) if hasattr(value, "astimezone") else str(value)


def _nothing(_: Any) -> None:
    return None


_KINDS = {
    "cancel": Kind.CANCEL,
    "retry": Kind.RETRY,
    "run-now": Kind.RUN_NOW,
    "priority": Kind.PRIORITY,
    "queue": Kind.QUEUE,
    "delete": Kind.DELETE,
}
_DONE = {
    Kind.RETRY: "retried",
    Kind.RUN_NOW: "started",
    Kind.PRIORITY: "changed",
    Kind.QUEUE: "changed",
    Kind.DELETE: "deleted",
}
_FOR_ENDED = (Kind.RETRY, Kind.DELETE)
