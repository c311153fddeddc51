"""The link that works once, pages without scripts, and the content policy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.chromium import Browser
from tests.browser.scenery import Scenery
from tests.conftest import Database
from tests.dashboard.test_ui_command import serving
from tests.rig.waiting import until


def test_a_link_opens_the_dashboard_once_until_one_leaves(
    chromium: Browser, hall_database: Database, tmp_path: Path
) -> None:
    with serving(hall_database, tmp_path) as link:
        chromium.begin(link.partition("/login")[0])
        chromium.open("/")
        assert chromium.text("h1") == "This dashboard is locked"
        chromium.open(link)
        assert chromium.driver.current_url == chromium.base + "/", "the token does not stay in the address"
        assert chromium.text("#tile-queues .name") == "Queues"
        chromium.open("/jobs")
        assert chromium.text("h1") == "Jobs"
        chromium.leave_by("form[action$='/logout'] button")
        assert chromium.text("h1") == "This dashboard is locked"
        chromium.cdp("Network.clearBrowserCookies")
        chromium.open(link)
        assert chromium.text("h1") == "This dashboard is locked", "another browser cannot use the link again"
        assert [line for line in chromium.console() if "401" not in line] == []


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("overview", ["Waiting", "Running now", "encoding 4k", "67 %", "charge_card", "media-1"]),
        ("jobs", ["Status", "charge_card", "encoding 4k", "failed"]),
        ("a running job", ["encoding 1080p", "Attempt 1", "part-done", '"video": 42']),
        ("a failed job", ["GatewayTimeout: no answer within 30 s", "Attempt 3", "Attempt 1", "payments-2:77:c4"]),
        ("a waiting job", ["Why it is not running", "backfill"]),
        ("queues", ["backfill", "paused", "Resume"]),
        ("workers", ["media-1", "7 jobs held"]),
        ("bulk", ["priority", "done"]),
        ("audit", ["olga"]),
    ],
)
def test_pages_are_readable_without_scripts(browser: Browser, scenery: Scenery, kind: str, words: list[str]) -> None:
    browser.scripts(False)
    browser.open(scenery.pages[kind])
    assert browser.attribute("html", "class") is None, "no script has run"
    shown = browser.text("body") or ""
    assert [word for word in words if word not in shown] == []
    assert browser.count("#live-state, [data-copy], #select-all") == 0, "what would do nothing is not shown"


def test_forms_work_without_scripts(browser: Browser, scenery: Scenery) -> None:
    browser.scripts(False)
    browser.open(scenery.pages["queues"])
    browser.find('[data-pause="type:embed"]').click()
    until(lambda: browser.text('[data-pause="type:embed"]') == "Resume", "the type is paused")
    browser.find('[data-pause="type:embed"]').click()
    until(lambda: browser.text('[data-pause="type:embed"]') == "Pause", "the type goes on")
    browser.open(f"/jobs/{scenery.completed}")
    browser.find("#act-delete").click()
    until(lambda: browser.text("h1") == "Delete this job?", "the server asks")


def test_a_violation_of_the_policy_would_be_seen(browser: Browser, scenery: Scenery) -> None:
    """The other tests find an empty console; this is what they would find."""
    browser.open("/")
    browser.js("document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\">x</p>')")
    browser.js("document.body.append(Object.assign(document.createElement('script'), {text: 'window.evil = 1'}))")
    until(lambda: len(browser.console()) >= 1, "the console tells")
    assert browser.js("return window.evil ?? null") is None
    assert (
        browser.js("return getComputedStyle(document.querySelector('body > p:last-of-type')).color") != "rgb(255, 0, 0)"
    )
    browser.console()
