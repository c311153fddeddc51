"""Coming in, going out, and the colours of the room."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from howdah.web.guard import first, known, own_form
from howdah.web.places import back_to, base_of
from howdah.web.rendering import THEME_COOKIE, THEMES

_YEAR = 365 * 24 * 3600


async def login(request: Request) -> Response:
    """Take a link's token for a session. Who has one already just goes on."""
    door = request.app.state.door
    if not door.uses_links:
        raise HTTPException(404)
    home = f"{base_of(request)}/"
    if await door.user(request) is not None:
        return RedirectResponse(home, 303)
    session = door.enter(request, request.query_params.get("token", ""))
    if session is None:
        raise HTTPException(401)
    response = RedirectResponse(home, 303)
    # Lax, not strict: the link is followed from a terminal or a mail, and the first page must come with it.
    place, is_secure = base_of(request) or "/", request.url.scheme == "https"
    response.set_cookie(door.cookie(request), session, path=place, httponly=True, samesite="lax", secure=is_secure)
    return response


async def logout(request: Request) -> Response:
    """End the session."""
    await known(request)
    await own_form(request)
    door = request.app.state.door
    if not door.uses_links:
        raise HTTPException(404)
    door.leave(request)
    response = RedirectResponse(f"{base_of(request)}/", 303)
    response.delete_cookie(door.cookie(request), path=base_of(request) or "/")
    return response


async def set_theme(request: Request) -> Response:
    """Remember light, dark or auto in this browser. Open to anyone at the door: it changes nothing here."""
    form = await own_form(request)
    theme = first(form, "theme")
    response = RedirectResponse(back_to(request, first(form, "back")), 303)
    if theme in THEMES:
        response.set_cookie(THEME_COOKIE, theme, max_age=_YEAR, path=base_of(request) or "/", samesite="strict")
    return response
