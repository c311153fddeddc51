"""A change is only accepted from a page of the dashboard itself.

Two checks, and both must hold. The browser says where a request comes from (Sec-Fetch-Site, in older ones Origin); and
the form repeats a random value that a cookie holds, which another site can neither read nor set. The second needs no
memory on the server, so any number of processes may serve one dashboard.
"""

from __future__ import annotations

import re
import secrets
from urllib.parse import urlsplit

from starlette.requests import Request

COOKIE = "howdah_csrf"
FIELD = "csrf"
_VALUE = re.compile(r"[A-Za-z0-9_-]{32,64}", re.ASCII)


def value_of(request: Request) -> str:
    """The value that this browser's forms carry; made when it has none."""
    found = request.cookies.get(COOKIE, "")
    if not _VALUE.fullmatch(found):
        found = getattr(request.state, "csrf", None) or secrets.token_urlsafe(32)
    request.state.csrf = found
    return found


def is_from_here(request: Request) -> bool:
    """Whether the browser says that one of our own pages sent it."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host", "")


def is_repeated(request: Request, given: object) -> bool:
    """Whether the form repeats the cookie."""
    cookie = request.cookies.get(COOKIE, "")
    return (
        bool(_VALUE.fullmatch(cookie))
        and isinstance(given, str)
        and secrets.compare_digest(cookie.encode(), given.encode(errors="replace"))
    )
