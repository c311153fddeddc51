"""Templates into answers. Everything that a template prints is escaped; none of them says otherwise."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from howdah.web import csrf, wording
from howdah.web.access import User
from howdah.web.places import base_of, here

THEMES = ("auto", "light", "dark")
THEME_COOKIE = "howdah_theme"


@cache
def environment() -> jinja2.Environment:
    """The templates and the words that they use."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("howdah.web", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    names = (
        "duration",
        "since",
        "ago",
        "clock",
        "machine_time",
        "number",
        "size",
        "json_text",
        "short_json",
        "last_line",
    )
    made.filters.update({name: getattr(wording, name) for name in names})
    made.filters["path"] = lambda value: quote(str(value), safe="")
    made.globals["asset_version"] = _asset_version()
    return made


def render(request: Request, template: str, context: dict[str, Any], status: int = 200) -> HTMLResponse:
    """A whole page."""
    user: User | None = getattr(request.state, "user", None)
    settings = request.app.state.desk.settings
    theme = request.cookies.get(THEME_COOKIE, "auto")
    may_change = user is not None and user.may_change and not settings.read_only
    page = {
        "base": base_of(request),
        "user": user,
        "may_change": may_change,
        "may_read_payloads": user is not None and user.payloads,
        "read_only": settings.read_only,
        "title": settings.title,
        "theme": theme if theme in THEMES else "auto",
        "csrf_field": csrf.FIELD,
        "csrf_value": csrf.value_of(request),
        "here": here(request),
        "live": None,
        "poll": None,
        "uses_links": request.app.state.door.uses_links,
        "flash": _flash(request),
    }
    text = environment().get_template(template).render({**page, **context})
    response = HTMLResponse(text.encode("utf-8", errors="replace"), status_code=status)
    if request.cookies.get(csrf.COOKIE) != request.state.csrf:
        response.set_cookie(
            csrf.COOKIE,
            request.state.csrf,
            path=page["base"] or "/",
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
    return response


def fragment(template: str, context: dict[str, Any]) -> Markup:
    """A part of a page, the same for every viewer; escaped where it was rendered, so not again where it is put in."""
    return Markup(environment().get_template(template).render(context))  # noqa: S704 - the template escapes


def _flash(request: Request) -> str:
    return FLASHES.get(request.query_params.get("done", ""), "")


#: What a page says after a change; the address carries only the word, so no link can put sentences into a page.
FLASHES = {
    "cancelled": "Cancelled: it will never run.",
    "requested": "Cancellation requested: its worker will be told within a second.",
    "retried": "It will run again.",
    "started": "It will run now.",
    "changed": "Changed.",
    "deleted": "Deleted.",
    "paused": "Paused: nothing more is started from there. What runs goes on.",
    "resumed": "Resumed.",
    "unchanged": "Nothing to do: it was so already.",
    "too-late": "Too late: the job had ended.",
    "busy": "A worker holds the job; cancel it first, or wait until it has ended.",
    "stopped": "The bulk operation stops after the chunk it is at.",
}


def _asset_version() -> str:
    """Changes with the files, so that browsers may keep them for ever."""
    digest = sha256()
    for file in sorted(files("howdah.web").joinpath("static").iterdir(), key=lambda found: found.name):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:12]
