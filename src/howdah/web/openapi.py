"""A description of every address and what it takes, for programs and for the fuzzer. A test compares it with the
routes."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from howdah.web.guard import FORM_LIMIT

_PAGE, _JSON = "text/html", "application/json"
_TEXT: dict[str, Any] = {"type": "string"}
_ID: dict[str, Any] = {"type": "string", "format": "uuid"}


def _query(**fields: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": name, "in": "query", "required": False, "schema": schema} for name, schema in fields.items()]


def _path(**fields: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": name, "in": "path", "required": True, "schema": schema} for name, schema in fields.items()]


def _words(*words: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(words)}


def _answers(kind: str, *codes: int) -> dict[str, Any]:
    """200 is of that kind; whatever is refused says why on a page."""
    answers: dict[str, Any] = {
        "200": {"description": "As it says", "content": {kind: {}}},
        "303": {"description": "Go on there"},
    }
    for code in codes:
        answers[str(code)] = {"description": "A page that says why not", "content": {_PAGE: {}}}
    return answers


def _get(summary: str, parameters: list[dict[str, Any]] | None = None, kind: str = _PAGE) -> dict[str, Any]:
    answers = _answers(kind, 400, 401, 403, 404, 405, 429)
    return {"get": {"summary": summary, "parameters": parameters or [], "responses": answers}}


def _post(
    summary: str, parameters: list[dict[str, Any]] | None = None, **fields: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    schema = {"type": "object", "required": ["csrf"], "properties": {"csrf": _TEXT, **fields}}
    body = {"required": True, "content": {"application/x-www-form-urlencoded": {"schema": schema}}}
    answers = _answers(_PAGE, 400, 401, 403, 404, 405, 413, 415)
    return {"post": {"summary": summary, "parameters": parameters or [], "requestBody": body, "responses": answers}}


_BULK = {
    "kind": _words("retry", "cancel", "delete", "run_now", "priority", "queue"),
    "value": _TEXT,
    "scope": _words("selected", "filter"),
    "q": _TEXT,
    "id": {"type": "array", "items": _ID},
}
_SEARCH = dict.fromkeys(("q", "type", "queue", "worker", "priority", "after", "until", "error", "data"), _TEXT)
_SPANS = _words("1h", "24h", "7d", "30d")
PATHS: dict[str, dict[str, Any]] = {
    "/": _get("Overview", _query(span=_SPANS, queue=_TEXT, type=_TEXT)),
    "/jobs": _get("Jobs that fit", _query(**_SEARCH, status=_TEXT, before=_ID)),
    "/jobs/{job_id}": _get("One job", _path(job_id=_ID)),
    "/jobs/{job_id}.json": _get("One job as JSON", _path(job_id=_ID), _JSON),
    "/jobs/{job_id}/{action}": _post(
        "Change one job",
        _path(job_id=_ID, action=_words("cancel", "retry", "run-now", "priority", "queue", "delete")),
        priority={"type": "integer"},
        queue=_TEXT,
        sure=_words("1"),
        back=_TEXT,
    ),
    "/queues": _get("Queues and types"),
    "/queues/{verb}": _post(
        "Pause or resume",
        _path(verb=_words("pause", "resume")),
        kind=_words("queue", "type"),
        name=_TEXT,
        back=_TEXT,
    ),
    "/bulk": {
        **_get("Bulk operations"),
        **_post("Begin a bulk operation", None, **_BULK, operation_id=_ID, estimate={"type": "integer"}),
    },
    "/bulk/preview": _post("How many jobs it would change", None, **_BULK),
    "/bulk/{operation_id}": _get("One bulk operation", _path(operation_id=_ID)),
    "/bulk/{operation_id}/{verb}": _post(
        "Stop a bulk operation, or go on with it", _path(operation_id=_ID, verb=_words("cancel", "resume"))
    ),
    "/audit": _get("Who changed what", _query(before={"type": "integer"}, who=_TEXT)),
    "/workers": _get("Workers"),
    "/live": _get(
        "Server-sent events",
        _query(panels=_TEXT, jobs=_TEXT, after={"type": "integer"}, operation=_ID),
        "text/event-stream",
    ),
    "/metrics": _get("Prometheus' text", kind="text/plain"),
    "/openapi.json": _get("This description", kind=_JSON),
    "/login": _get("Take a link's token for a session", _query(token=_TEXT)),
    "/logout": _post("End the session"),
    "/theme": _post("Remember light, dark or auto", theme=_words("auto", "light", "dark"), back=_TEXT),
}
DESCRIPTION: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {
        "title": "Howdah's dashboard",
        "version": "1",
        "description": "Pages for people. A change is a form of a page: it repeats the cookie howdah_csrf in its field "
        f"csrf, comes from the same origin, and has at most {FORM_LIMIT} bytes.",
    },
    "paths": PATHS,
}


async def openapi(request: Request) -> Response:
    """The description."""
    return JSONResponse(DESCRIPTION)
