"""The dashboard as each role: what its database role may not do, it says, and does not break."""

from __future__ import annotations

import pytest

from howdah import Howdah
from howdah.web.application import Dashboard
from howdah.web.settings import read_settings
from tests.dashboard.asgi import Caller
from tests.dashboard.visiting import by_header
from tests.security.conftest import Secured
from tests.security.manifest import ADMIN, PAYLOAD_READER, READER

LISTS = ("/", "/jobs", "/queues", "/workers", "/bulk", "/audit", "/metrics")


@pytest.mark.parametrize(("who", "pages"), [(READER, 403), (PAYLOAD_READER, 200), (ADMIN, 403)])
async def test_each_role_sees_what_it_may(secured: Secured, who: str, pages: int) -> None:
    with secured.connect() as sql:
        row = sql.execute("INSERT INTO howdah.jobs (job_type) VALUES ('encode') RETURNING id").fetchone()
    assert row is not None
    app = Howdah(secured.url(who))
    dashboard = Dashboard(app, read_settings(by_header, False, (), "Howdah"))
    caller = Caller(dashboard)
    lists = {path: (await caller.get(path)).status for path in LISTS}
    assert set(lists.values()) <= ({200} if who != ADMIN else {200, 403}), lists
    for path in (f"/jobs/{row[0]}", f"/jobs/{row[0]}.json", "/jobs?q=error~x"):
        answer = await caller.get(path)
        assert answer.status == pages, path
        assert pages == 200 or "own database role may not" in answer.text
    change = await caller.post("/queues/pause", {"kind": "queue", "name": "default"})
    assert change.status == (303 if who == ADMIN else 403)
    await dashboard.aclose()
    await app.aclose()
