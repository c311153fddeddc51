"""Changes to many jobs: previewed with a count, carried out in the background, cancellable, on record."""

from __future__ import annotations

import asyncio
from functools import partial
from uuid import UUID

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from howdah.admin import bulk as admin
from howdah.admin.bulk import BulkOrder
from howdah.admin.filters import JobFilter
from howdah.admin.order_store import list_operations
from howdah.admin.orders import Change, Kind
from howdah.admin.views import Count
from howdah.model.errors import OptionError
from howdah.model.job_id import new_job_id
from howdah.web.desk import desk_of, user_of
from howdah.web.guard import Form, first
from howdah.web.panels import draw_operation
from howdah.web.places import back_to, base_of
from howdah.web.rendering import render
from howdah.web.search_fields import read_search

PAGE = 30


async def operations(request: Request) -> Response:
    """What was ordered lately."""
    found = await desk_of(request).panel(partial(list_operations, PAGE))
    return render(request, "operations.html", {"tab": "bulk", "operations": found, "poll": 2})


async def operation(request: Request) -> Response:
    """One operation, live."""
    operation_id: UUID = request.path_params["operation_id"]
    drawn = await draw_operation(desk_of(request), operation_id, base_of(request))
    found = await desk_of(request).look(partial(admin.get, operation_id))
    context = {"tab": "bulk", "operation": found, "drawn": drawn, "live": f"operation={operation_id}"}
    return render(request, "operation.html", context)


async def preview(request: Request, form: Form) -> Response:
    """How many jobs it would change; nothing is done yet."""
    change, selection = _read(request, form)
    if isinstance(selection, JobFilter):
        found = await desk_of(request).look(partial(admin.preview, change, selection))
        count = found.count
    else:
        count = Count(len(selection), exact=True)
    context = {
        "tab": "jobs",
        "change": change,
        "count": count,
        # Where counting was given up, nobody knows how far the operation has come: it says how many are done.
        "estimate": count.estimate or (count.jobs if count.exact else 0),
        "text": first(form, "q"),
        "scope": first(form, "scope"),
        "ids": [] if isinstance(selection, JobFilter) else selection,
        # Made here, so that a form which is sent twice is one order.
        "operation_id": new_job_id(),
    }
    return render(request, "bulk_preview.html", context)


async def begin(request: Request, form: Form) -> Response:
    """Put it on record, and begin."""
    change, selection = _read(request, form)
    try:
        operation_id = UUID(first(form, "operation_id"))
        estimate = min(max(0, int(first(form, "estimate", "0")[:18])), 2**62)
    except ValueError:
        raise HTTPException(400, "The form is not complete; begin again from the list of jobs.") from None
    desk = desk_of(request)
    order = BulkOrder(change, selection, user_of(request).name, estimate, operation_id)
    await desk.change(partial(admin.begin, order))
    desk.errands.start(operation_id)
    # One that takes no time is shown when it is done.
    await asyncio.sleep(0.1)
    return RedirectResponse(f"{base_of(request)}/bulk/{operation_id}", 303)


async def steer(request: Request, form: Form) -> Response:
    """Stop an operation, or go on with one whose process has died."""
    operation_id: UUID = request.path_params["operation_id"]
    verb = request.path_params["verb"]
    desk = desk_of(request)
    if verb == "cancel":
        await desk.change(partial(admin.cancel, operation_id, user_of(request).name))
    elif verb == "resume":
        await desk.look(partial(admin.get, operation_id))
        desk.errands.start(operation_id)
    else:
        raise HTTPException(404)
    return RedirectResponse(back_to(request, f"/bulk/{operation_id}", "stopped" if verb == "cancel" else ""), 303)


def _read(request: Request, form: Form) -> tuple[Change, JobFilter | list[UUID]]:
    kind, value = first(form, "kind"), first(form, "value").strip()
    try:
        takes_value = Kind(kind) in (Kind.PRIORITY, Kind.QUEUE)
        change = Change.read(kind, value if takes_value else None)
    except OptionError as error:
        raise HTTPException(400, str(error)) from None
    except ValueError:
        known = ", ".join(Kind)
        raise HTTPException(400, f"kind is one of {known}; a priority is a whole number") from None
    if first(form, "scope") == "filter":
        desk = desk_of(request)
        search = read_search({"q": first(form, "q")}, user_of(request), desk.settings.redaction)
        if search.wanted is None:
            raise HTTPException(400, f"The filter cannot be read: {' '.join(search.wrong.values())}")
        return change, search.wanted
    try:
        ids = list(dict.fromkeys(UUID(text) for text in form.get("id", [])))
    except ValueError:
        raise HTTPException(400, "One of the selected ids is no job id.") from None
    if not ids:
        raise HTTPException(400, "No job is selected. Go back and select some, or choose every job that fits.")
    return change, ids
