"""The live view for those who may only look, and for those who may order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from howdah import Howdah
from howdah.top.application import Top
from tests.rig.servers import TestServer
from tests.rig.waiting import until_async
from tests.security.conftest import Secured
from tests.top.conftest import banner, text_of


@pytest.fixture(autouse=True)
def operator(server: TestServer, secured: Secured) -> Iterator[None]:
    """Somebody who may look and order."""
    with server.admin() as admin:
        admin.execute("CREATE ROLE some_operator LOGIN IN ROLE howdah_reader, howdah_admin")
        yield
        admin.execute("DROP ROLE some_operator")


@contextmanager
def view(secured: Secured, who: str) -> Iterator[Top]:
    app = Howdah(secured.url(who))
    try:
        yield Top(app, "secured")
    finally:
        app.close()


@pytest.mark.parametrize(("who", "may"), [("reader", False), ("operator", True)])
async def test_it_shows_everything_and_orders_what_is_granted(secured: Secured, who: str, may: bool) -> None:
    with secured.connect() as sql:
        sql.execute("SELECT howdah.enqueue_job('encode', p_queue => 'videos')")
        sql.execute(
            "INSERT INTO howdah.jobs (job_type, queue, status, completed_at) VALUES ('mail', 'videos', 'failed', now())"
        )
    with view(secured, who) as top:
        async with top.run_test(notifications=True) as pilot:
            await until_async(lambda: top.looks > 0 or banner(top) != "", "the first look")
            assert banner(top) == ""
            assert "videos" in text_of(top)
            assert "mail" in text_of(top)
            await pilot.press("1", "p", "y")
            words = "queue videos: paused" if may else "no rights"
            await until_async(lambda: any(words in note.message for note in top._notifications), "the answer")
    with secured.connect() as sql:
        assert sql.execute("SELECT count(*) FROM howdah.pauses").fetchone() == (int(may),)
