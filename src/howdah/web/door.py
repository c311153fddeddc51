"""Who is let in.

With the host application's own `auth`, its answer counts for every request. Without, the dashboard answers to this
machine only, and only to browsers that came once through a link which it told its own terminal or log: each link works
once. Sessions are kept in memory, as hashes, and end with the process.
"""

from __future__ import annotations

import hashlib
import inspect
import ipaddress
import logging
import secrets
import threading
from collections.abc import Callable

from starlette.requests import Request

from howdah.web.access import Authenticate, Role, User
from howdah.web.places import address_of

logger = logging.getLogger("howdah.dashboard")


class HostDoor:
    """The host application decides."""

    uses_links = False

    def __init__(self, authenticate: Authenticate) -> None:
        self._authenticate = authenticate

    async def user(self, request: Request) -> User | None:
        """The user, or None."""
        answer = self._authenticate(request)
        found = await answer if inspect.isawaitable(answer) else answer
        if found is not None and not isinstance(found, User):
            # True, or a user object of the host's own, must not be taken for a right.
            raise TypeError(f"the dashboard's auth returned a {type(found).__name__}; return a howdah.User, or None")
        return found


class LinkDoor:
    """Loopback only, with links that work once."""

    uses_links = True

    def __init__(self, tell: Callable[[str], None] | None = None) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._token: str | None = None
        self._sessions: set[str] = set()

    def new_token(self) -> str:
        """A token for one more link; the one before is void."""
        with self._lock:
            self._token = secrets.token_urlsafe(24)
            return self._token

    async def user(self, request: Request) -> User | None:
        """The owner of this machine's session, or None."""
        if not is_local(request):
            return None
        session = request.cookies.get(self.cookie(request), "")
        if _hashed(session) in self._sessions:
            return User("local", Role.OPERATOR, payloads=True)
        return None

    def enter(self, request: Request, token: str) -> str | None:
        """The secret of a new session, if the token is right and new."""
        if not is_local(request):
            return None
        with self._lock:
            right = self._token is not None and secrets.compare_digest(
                self._token.encode(), token.encode(errors="replace")
            )
            if not right:
                return None
            self._token = None
            session = secrets.token_urlsafe(32)
            self._sessions.add(_hashed(session))
        self.offer(request)
        return session

    def leave(self, request: Request) -> None:
        """End the session."""
        self._sessions.discard(_hashed(request.cookies.get(self.cookie(request), "")))

    def offer_to(self, request: Request) -> None:
        """Someone stands at the door: tell a link, unless one that was told still works."""
        if self._token is None and is_local(request):
            self.offer(request)

    def offer(self, request: Request) -> None:
        """Tell the terminal or the log a link for the next browser."""
        link = f"{address_of(request)}/login?token={self.new_token()}"
        if self._tell is not None:
            self._tell(link)
        else:
            logger.warning("the dashboard opens, once, with this link: %s", link)

    def cookie(self, request: Request) -> str:
        """Cookies do not know ports: two dashboards on one machine must not end each other's sessions."""
        return f"howdah_session_{request.url.port or 80}"


def is_local(request: Request) -> bool:
    """Whether the request comes from this machine, and to it by a name of its own: a foreign name that leads here would
    otherwise end up in the links that we tell."""
    here = request.url.hostname or ""
    return request.client is not None and is_loopback(request.client.host) and is_loopback(here)


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own."""
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
