"""The dashboard as an ASGI app of its own: `app.mount("/jobs", howdah.dashboard(queue))`, or served by `howdah ui`.

It opens nothing until it is asked, because a mounted app is not told when its host starts; it works under any prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import Receive, Scope, Send

from howdah.app import Howdah
from howdah.model.errors import HowdahError, OptionError, shown
from howdah.web.access import Authenticate
from howdah.web.desk import Desk
from howdah.web.door import HostDoor, LinkDoor
from howdah.web.faults import lost, refused, surprised
from howdah.web.headers import HeadersMiddleware
from howdah.web.live import Live
from howdah.web.routes import routes
from howdah.web.settings import Settings, read_settings


class Dashboard:
    """An ASGI app; `aclose()` gives back what it opened."""

    def __init__(self, app: Howdah, settings: Settings, tell_link: Callable[[str], None] | None = None) -> None:
        self.desk = Desk(app, settings)
        self.door = HostDoor(settings.auth) if settings.auth is not None else LinkDoor(tell_link)
        self.live = Live(self.desk)
        self._serve = Starlette(
            routes=routes(),
            middleware=[Middleware(HeadersMiddleware)],
            exception_handlers={HowdahError: lost, 404: refused, 405: refused, 500: surprised, **_REFUSALS},
        )
        # A redirect to the same address with a slash would be made from whatever the request calls its host.
        self._serve.router.redirect_slashes = False
        self._serve.state.desk = self.desk
        self._serve.state.door = self.door
        self._serve.state.live = self.live

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self._serve(scope, receive, send)

    async def aclose(self) -> None:
        """Tell the viewers goodbye and give back the connections of this event loop."""
        await self.live.close()
        await self.desk.close()


_REFUSALS = dict.fromkeys((400, 401, 403, 404, 405, 413, 415, 429), refused)


def dashboard(
    app: Howdah,
    *,
    auth: Authenticate | None = None,
    read_only: bool = False,
    redact: Sequence[str] = (),
    title: str = "Howdah",
) -> Dashboard:
    """The dashboard of an app, for mounting in any ASGI application.

    `auth`: a function, plain or async, from the request to a `howdah.User`, or None to refuse it. Without one, only
    browsers on this machine are let in, through a link that is logged and works once. `redact`: fields of arguments,
    results and events that nobody sees, such as `password` or `card.number`.
    """
    if not isinstance(app, Howdah):
        raise OptionError(f"dashboard() takes a Howdah app, not {shown(app)}")
    return Dashboard(app, read_settings(auth, read_only, redact, title))
