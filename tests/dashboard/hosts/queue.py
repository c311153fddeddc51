"""The queue and the users that all hosts have; HOWDAH_URL says where its database is."""

from __future__ import annotations

from starlette.requests import Request

import howdah

queue = howdah.Howdah()
OPERATOR = "Bearer olga"


@queue.job
async def encode(name: str) -> None:
    """A job of the host's own."""


def who(request: Request) -> howdah.User | None:
    """The host's own auth, as far as these tests are concerned."""
    if request.headers.get("authorization") == OPERATOR:
        return howdah.User("olga", role="operator", payloads=True)
    return None
