"""Sealed jobs: shown to those who have the key, and no less after the keys were changed."""

from __future__ import annotations

import os
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from howdah import Howdah, JobContext, Keyring
from howdah.admin.rekeying import Rekeyed, rekey_events, rekey_jobs
from howdah.model.retry import Backoff
from howdah.web.application import Dashboard
from howdah.web.settings import read_settings
from tests.conftest import Database
from tests.dashboard.asgi import Caller
from tests.dashboard.visiting import by_header
from tests.rig.working import working

OLD, NEW = os.urandom(32), os.urandom(32)
SECRET = "hunter2-and-more"


async def page_with(database: Database, keyring: Keyring | None, job_id: UUID) -> str:
    """The job's page as a dashboard with these keys shows it."""
    app = Howdah(database.url, encryption=keyring)
    dashboard = Dashboard(app, read_settings(by_header, False, (), "Howdah"))
    answer = await Caller(dashboard).get(f"/jobs/{job_id}")
    assert answer.status == 200, answer.text
    await dashboard.aclose()
    await app.aclose()
    return answer.text


async def test_each_error_opens_before_and_after_a_change_of_keys(database: Database) -> None:
    app = Howdah(database.url, encryption=Keyring({"old": OLD}))

    @app.job(max_attempts=2, retry=Backoff(base=timedelta(0)))
    async def stumble(ctx: JobContext, secret: str) -> None:
        ctx.event("said", {"what": secret})
        raise ValueError(f"{secret} at attempt {ctx.attempt}")

    job = await stumble.aenqueue(SECRET)
    async with working(app):
        await job.await_(60)
    said = [f"ValueError: {SECRET} at attempt {number}" for number in (1, 2)]
    opened = await page_with(database, Keyring({"old": OLD}), job.id)
    assert all(text in opened for text in (*said, f'"secret": "{SECRET}"'.replace('"', "&#34;")))
    for keyring in (None, Keyring({"new": NEW})):
        closed = await page_with(database, keyring, job.id)
        assert SECRET not in closed
        assert "sealed with key &#39;old&#39;" in closed
        assert "nonce" not in closed

    done = Rekeyed()
    both = Keyring({"new": NEW, "old": OLD})
    for rekey in (rekey_jobs, rekey_events):
        make: Any = partial(rekey, both, None, done)
        app.sessions.run(make, transaction=True)
    assert done.complete
    renewed = await page_with(database, Keyring({"new": NEW}), job.id)
    assert all(text in renewed for text in said), "the record of the first attempt was sealed anew as well"
    await app.aclose()
