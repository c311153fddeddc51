"""What is shown when a page cannot be: one clear sentence, and the next step."""

from __future__ import annotations

import logging

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from howdah.db.faults import is_forbidden
from howdah.model.errors import (
    DatabaseUnavailable,
    SchemaMissing,
    SchemaTooNew,
    SchemaTooOld,
    TookTooLong,
    UserError,
)
from howdah.web.rendering import render

logger = logging.getLogger("howdah.dashboard")
_TITLES = {
    400: "That cannot be read",
    401: "This dashboard is locked",
    403: "Not allowed",
    404: "There is nothing here",
    405: "Not like this",
    413: "Too much",
    415: "Not a form",
}
_SENTENCES = {
    403: "You may not see this dashboard. Ask whoever runs this application.",
    404: "No page has this address. A job may also be past its retention, and gone.",
    405: "This address does not answer to that kind of request.",
}


async def refused(request: Request, error: Exception) -> Response:
    """A request that cannot be granted."""
    assert isinstance(error, HTTPException)
    code = error.status_code
    if code == 401:
        request.app.state.door.offer_to(request)
        return render(request, "locked.html", {}, 401)
    said = error.detail if error.detail and error.detail not in _STANDARD else _SENTENCES.get(code, "")
    return render(request, "fault.html", {"code": code, "name": _TITLES.get(code, "Refused"), "sentence": said}, code)


async def lost(request: Request, error: Exception) -> Response:
    """A database that cannot be used, or a mistake that the user can put right."""
    if isinstance(error, LookupError):
        context = {"code": 404, "name": _TITLES[404], "sentence": str(error)}
        return render(request, "fault.html", context, 404)
    if isinstance(error, UserError) and not isinstance(error, _OUTAGES):
        context = {"code": 400, "name": _TITLES[400], "sentence": str(error)}
        return render(request, "fault.html", context, 400)
    if error.__cause__ is not None and is_forbidden(error.__cause__):
        said = "The dashboard's own database role may not read or change this; docs/security.md lists the rights."
        return render(request, "fault.html", {"code": 403, "name": _TITLES[403], "sentence": said}, 403)
    if isinstance(error, TookTooLong):
        context = {"code": 503, "name": "The database is busy", "sentence": "It took too long, and was given up."}
        return render(request, "fault.html", context, 503)
    # The reason may name hosts and roles: for those who may operate, not for every viewer.
    user = getattr(request.state, "user", None)
    reason = str(error) if user is not None and user.may_change else ""
    response = render(request, "lost.html", {"lost": reason}, 503)
    response.headers["Retry-After"] = "5"
    return response


async def surprised(request: Request, error: Exception) -> Response:
    """A mistake of ours. The log has the traceback; the page has none."""
    logger.error("the dashboard failed on %s %s", request.method, request.url.path, exc_info=error)
    return PlainTextResponse("The dashboard made a mistake; the log of its process says which.", status_code=500)


_OUTAGES = (DatabaseUnavailable, SchemaMissing, SchemaTooOld, SchemaTooNew)
_STANDARD = {"Not Found", "Forbidden", "Unauthorized", "Method Not Allowed", "Bad Request"}
