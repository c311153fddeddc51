"""What stands before every handler: nobody unknown, no change by a viewer, none in read-only mode, none from another
site."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from typing import TypeAlias
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from howdah.web import csrf
from howdah.web.access import User
from howdah.web.desk import desk_of

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]
Form: TypeAlias = Mapping[str, list[str]]
Changer: TypeAlias = Callable[[Request, Form], Awaitable[Response]]
FORM_LIMIT = 256 * 1024
_FIELDS = 2000


async def known(request: Request) -> User:
    """The user behind the request, or 401."""
    user: User | None = await request.app.state.door.user(request)
    if user is None:
        raise HTTPException(401 if request.app.state.door.uses_links else 403)
    request.state.user = user
    return user


def looking(handler: Handler) -> Handler:
    """A page for everyone who is let in."""

    @wraps(handler)
    async def guarded(request: Request) -> Response:
        await known(request)
        return await handler(request)

    return guarded


def changing(handler: Changer) -> Handler:
    """A change: for operators, by a form of our own."""

    @wraps(handler)
    async def guarded(request: Request) -> Response:
        user = await known(request)
        form = await own_form(request)
        if desk_of(request).settings.read_only:
            raise HTTPException(403, "This dashboard is read-only.")
        if not user.may_change:
            raise HTTPException(403, "Only operators change anything; you are a viewer.")
        return await handler(request, form)

    return guarded


async def own_form(request: Request) -> Form:
    """The fields of a form that one of our own pages sent, or 4xx."""
    if not csrf.is_from_here(request):
        raise HTTPException(403, "This change was sent by another site, so it was not made.")
    form = await read_form(request)
    if not csrf.is_repeated(request, first(form, csrf.FIELD)):
        raise HTTPException(403, "This form is too old, or not ours; go back, reload the page and try again.")
    return form


async def read_form(request: Request) -> Form:
    """The fields of an urlencoded form, each with its values; anything else is refused."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "Send a form: application/x-www-form-urlencoded.")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > FORM_LIMIT:
            raise HTTPException(413, f"A form may have at most {FORM_LIMIT // 1024} KiB.")
    return parse_form(body)


def parse_form(body: bytes) -> Form:
    """Names and values; what is not UTF-8 is refused."""
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", encoding="utf-8", max_num_fields=_FIELDS
        )
    except ValueError:
        raise HTTPException(400, "The form cannot be read; its text must be UTF-8.") from None
    form: dict[str, list[str]] = {}
    for name, value in pairs:
        form.setdefault(name, []).append(value)
    return form


def first(form: Form, name: str, default: str = "") -> str:
    """A field's first value."""
    values = form.get(name)
    return values[0] if values else default
