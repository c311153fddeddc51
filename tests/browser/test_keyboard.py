"""No mouse: everything from the keyboard, as the list of keys says."""

from __future__ import annotations

from selenium.webdriver.common.keys import Keys

from tests.browser.chromium import Browser
from tests.browser.scenery import Scenery
from tests.rig.waiting import until


def here(browser: Browser) -> str:
    return browser.driver.current_url.removeprefix(browser.base)


def at(browser: Browser) -> int:
    """Which row is the current one; -1: none."""
    return int(browser.js("return [...document.querySelectorAll('[data-row]')].findIndex((r) => r.matches('.at'))"))


def focused(browser: Browser) -> str:
    return str(browser.js("return document.activeElement.id || document.activeElement.textContent.trim()"))


def ready(browser: Browser) -> None:
    until(lambda: browser.js("return document.documentElement.matches('.scripted')"), "the scripts have begun")


def test_search_move_and_open(browser: Browser, scenery: Scenery) -> None:
    browser.open("/")
    ready(browser)
    browser.js("window.stale = true")
    browser.press("/")
    browser.arrived()
    until(lambda: focused(browser) == "q", "the search has the focus, on the page that has one")
    browser.js("window.stale = true")
    browser.press("status=failed type=charge_card", Keys.ENTER)
    browser.arrived()
    assert browser.text("#count") == "6 fit"
    ready(browser)
    browser.press("j", "j", "j")
    assert at(browser) == 2
    browser.press("k")
    assert at(browser) == 1
    link = browser.attribute("[data-row].at", "data-job")
    browser.js("window.stale = true")
    browser.press(Keys.ENTER)
    browser.arrived()
    assert here(browser) == f"/jobs/{link}"
    assert browser.text("h1") == "charge_card"


def test_the_rows_are_where_the_keys_stop(browser: Browser, scenery: Scenery) -> None:
    browser.open("/jobs?q=status%3Dfailed+type%3Dcharge_card")
    ready(browser)
    browser.press("j", *"j" * 20)
    assert at(browser) == 5
    browser.press(*"k" * 20)
    assert at(browser) == 0


def test_the_list_of_keys_opens_and_closes(browser: Browser, scenery: Scenery) -> None:
    browser.open("/jobs")
    ready(browser)
    browser.press("?")
    until(lambda: browser.count("#keys-help"), "the list is shown")
    assert "search jobs" in (browser.text("#keys-help") or "")
    browser.press("j")
    assert at(browser) == -1, "keys belong to the list while it is open"
    browser.press(Keys.ESCAPE)
    until(lambda: not browser.count("#keys-help"), "the list is gone")
    browser.press("j")
    assert at(browser) == 0


def test_typing_is_not_taken_for_keys(browser: Browser, scenery: Scenery) -> None:
    browser.open("/jobs")
    ready(browser)
    browser.press("/", "jjk?x")
    assert (browser.value("#q"), at(browser), browser.count("#keys-help")) == ("jjk?x", -1, 0)


def test_g_goes_to_pages(browser: Browser, scenery: Scenery) -> None:
    browser.open("/")
    for key, path in (("j", "/jobs"), ("q", "/queues"), ("w", "/workers"), ("b", "/bulk"), ("a", "/audit"), ("o", "/")):
        ready(browser)
        browser.js("window.stale = true")
        browser.press("g", key)
        browser.arrived()
        assert here(browser) == path


def test_rows_are_selected_and_changed(browser: Browser, scenery: Scenery) -> None:
    """Select with x, then Tab to the bar below and order a preview with Enter."""
    browser.open("/jobs?q=status%3Dfailed+type%3Dcharge_card")
    ready(browser)
    browser.press("j", "x", "j", "x")
    browser.until_text("#selected-count", "2 selected")
    for _ in range(40):
        browser.press(Keys.TAB)
        if focused(browser) == "bulk-preview":
            break
    browser.js("window.stale = true")
    browser.press(Keys.ENTER)
    browser.arrived()
    assert browser.text("#bulk-begin") == "Retry 2 jobs"


def test_the_focus_is_seen_and_the_content_is_one_key_away(browser: Browser, scenery: Scenery) -> None:
    browser.open("/queues")
    ready(browser)
    browser.press(Keys.TAB)
    assert focused(browser) == "Skip to the content"
    assert browser.place(".skip").left >= 0, "the link shows itself when it has the focus"
    browser.press(Keys.ENTER)
    until(lambda: focused(browser) == "main", "the content has the focus")
    browser.press(Keys.TAB)
    outline = browser.js("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_updates_are_paused_and_resumed(browser: Browser, scenery: Scenery) -> None:
    browser.open("/")
    ready(browser)
    browser.until_text("#live-state", "live")
    browser.press("p")
    assert browser.text("#live-state") == "paused"
    browser.press("p")
    browser.until_text("#live-state", "live")
