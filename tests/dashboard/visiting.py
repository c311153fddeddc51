"""A browser without a screen: keeps cookies, sends forms as pages of the dashboard do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any

from starlette.requests import Request
from starlette.testclient import TestClient

from howdah import Howdah, User
from howdah.web.application import Dashboard
from howdah.web.settings import Settings, read_settings

USERS = {
    "olga": User("olga", "operator", payloads=True),
    "opal": User("opal", "operator", payloads=False),
    "vera": User("vera", "viewer", payloads=True),
    "vic": User("vic", "viewer", payloads=False),
}


def by_header(request: Request) -> User | None:
    """The host application's auth, as far as these tests are concerned."""
    return USERS.get(request.headers.get("x-user", ""))


class Page(HTMLParser):
    """What a page is made of, for questions about it."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        """All text that is shown."""
        return re.sub(r"\s+", " ", " ".join(self.words))

    def all(self, tag: str, **wanted: str) -> list[dict[str, str | None]]:
        """The elements that have those attributes; `data_x` stands for `data-x`."""
        asked = {name.replace("_", "-"): value for name, value in wanted.items()}
        return [attrs for name, attrs in self.tags if name == tag and asked.items() <= attrs.items()]


class Visitor:
    """One user with a browser."""

    def __init__(self, client: TestClient, prefix: str, user: str | None) -> None:
        self.client = client
        self.prefix = prefix
        self.headers = {"x-user": user} if user else {}

    def get(self, path: str, **options: Any) -> Any:
        """Fetch an address."""
        headers = {**self.headers, **options.pop("headers", {})}
        return self.client.get(self.prefix + path, headers=headers, follow_redirects=False, **options)

    def page(self, path: str) -> Page:
        """A page that must be there."""
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return Page(answer.text)

    def post(self, path: str, form: dict[str, Any] | None = None, *, token: bool = True, **headers: str) -> Any:
        """Send a form as a page of ours does."""
        if token and "howdah_csrf" not in self.client.cookies:
            self.get("/queues")
        data = dict(form or {})
        if token:
            data["csrf"] = self.client.cookies["howdah_csrf"]
        sent = {**self.headers, "sec-fetch-site": "same-origin", **{k.replace("_", "-"): v for k, v in headers.items()}}
        return self.client.post(self.prefix + path, data=data, headers=sent, follow_redirects=False)


@contextmanager
def visiting(
    app: Howdah,
    settings: Settings | None = None,
    *,
    wrap: Callable[[Dashboard], Any] = lambda made: made,
    prefix: str = "",
) -> Iterator[Callable[[str | None], Visitor]]:
    """A dashboard of that app, and visitors to it by name."""
    dashboard = Dashboard(app, settings or read_settings(by_header, False, (), "Howdah"))
    with TestClient(wrap(dashboard), base_url="http://127.0.0.1:8800", client=("127.0.0.1", 50000)) as client:

        def visitor(user: str | None = "olga") -> Visitor:
            return Visitor(client, prefix, user)

        try:
            yield visitor
        finally:
            assert client.portal is not None
            client.portal.call(dashboard.aclose)
