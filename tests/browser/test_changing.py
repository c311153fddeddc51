"""Changes made by hand in the browser: by filter, by selection, to queues; and who cannot make them."""

from __future__ import annotations

import psycopg
import pytest

from tests.browser.chromium import Browser
from tests.browser.pictures import take_picture
from tests.browser.scenery import Scenery
from tests.conftest import Database
from tests.rig.waiting import until

BUTTONS = "main button:not([type=button])"


def statuses(database: Database, job_type: str) -> dict[str, int]:
    with psycopg.connect(database.direct_url) as connection:
        rows = connection.execute(
            "SELECT status, count(*) FROM howdah.jobs WHERE job_type = %s GROUP BY status", (job_type,)
        )
        return dict(rows.fetchall())


def put_failed(database: Database, job_type: str, jobs: int) -> None:
    with psycopg.connect(database.direct_url) as connection:
        connection.execute(
            "INSERT INTO howdah.jobs (job_type, status, attempts, last_error, completed_at)"
            " SELECT %s, 'failed', 3, CASE WHEN n %% 2 = 0 THEN 'TimeoutError: timed out' ELSE 'KeyError: 7' END, now()"
            " FROM generate_series(1, %s) AS n",
            (job_type, jobs),
        )


def test_all_jobs_with_one_error_are_retried(browser: Browser, hall_database: Database) -> None:
    put_failed(hall_database, "resize", 1400)
    browser.open("/jobs")
    browser.click("#q")
    browser.press('status=failed type=resize error~"timed out"', "\ue007")
    until(lambda: browser.text("#count") == "700 fit", "the filter has been applied")
    browser.choose("#scope", "filter")
    browser.choose("#kind", "retry")
    browser.leave_by("#bulk-preview")
    assert browser.text("#preview-count") == "700"
    assert statuses(hall_database, "resize") == {"failed": 1400}, "a preview changes nothing"
    assert browser.text("#bulk-begin") == "Retry 700 jobs"
    browser.leave_by("#bulk-begin")
    until(lambda: browser.attribute("#operation", "data-state") == "done", "it is done")
    assert browser.text("#operation-done") == "700"
    assert browser.text("#operation .percent") == "100 %"
    assert statuses(hall_database, "resize") == {"failed": 700, "pending": 700}
    browser.open("/audit")
    assert "retry" in (browser.text("#audit-table tbody tr") or "")
    assert "olga" in (browser.text("#audit-table tbody tr") or "")


def test_a_long_operation_shows_its_progress_and_is_stopped(browser: Browser, hall_database: Database) -> None:
    put_failed(hall_database, "crop", 4000)
    with psycopg.connect(hall_database.direct_url) as connection:
        # Somebody else holds one of the jobs, so that the operation comes no further than there.
        held = "SELECT FROM howdah.jobs WHERE job_type = 'crop' ORDER BY id LIMIT 1 OFFSET 1600 FOR UPDATE"
        assert connection.execute(held).fetchone() is not None
        browser.open("/jobs?q=status%3Dfailed+type%3Dcrop")
        browser.choose("#scope", "filter")
        browser.choose("#kind", "delete")
        browser.leave_by("#bulk-preview")
        browser.leave_by("#bulk-begin")
        assert browser.attribute("#operation", "data-state") == "running"
        browser.js("window.unreloaded = true")
        until(lambda: browser.value("#operation progress") >= 50, "its bar moves")
        assert browser.js("return window.unreloaded") is True
        browser.size((1280, 430))
        take_picture(browser, "bulk.png")
        browser.leave_by("#operation-cancel")
        until(lambda: browser.attribute("#operation", "data-state") == "cancelled", "it is stopped")
    assert 1600 <= statuses(hall_database, "crop")["failed"] < 4000


def test_selected_jobs_only_are_retried(browser: Browser, hall_database: Database) -> None:
    put_failed(hall_database, "rotate", 5)
    browser.open("/jobs?q=type%3Drotate")
    browser.click("tbody tr:nth-child(2) input[type=checkbox]")
    browser.click("tbody tr:nth-child(4) input[type=checkbox]")
    assert browser.text("#selected-count") == "2 selected"
    browser.choose("#kind", "retry")
    browser.leave_by("#bulk-preview")
    assert browser.text("#bulk-begin") == "Retry 2 jobs"
    browser.leave_by("#bulk-begin")
    until(lambda: browser.attribute("#operation", "data-state") == "done", "it is done")
    assert statuses(hall_database, "rotate") == {"failed": 3, "pending": 2}


def test_a_queue_is_paused_and_resumed(browser: Browser, scenery: Scenery, hall_database: Database) -> None:
    browser.open("/queues")
    button, tag = '[data-pause="queue:mail"]', '[data-queue="mail"] [data-paused]'
    assert (browser.text(button), browser.count(tag)) == ("Pause", 0)
    browser.leave_by(button)
    assert (browser.text(button), browser.count(tag)) == ("Resume", 1)
    with psycopg.connect(hall_database.direct_url) as connection:
        paused = connection.execute("SELECT name FROM howdah.pauses WHERE kind = 'queue' ORDER BY name").fetchall()
    assert paused == [("backfill",), ("mail",)]
    browser.leave_by(button)
    assert (browser.text(button), browser.count(tag)) == ("Pause", 0)


def test_a_delete_is_asked_about_once_more(browser: Browser, hall_database: Database) -> None:
    put_failed(hall_database, "mirror", 1)
    browser.open("/jobs?q=type%3Dmirror")
    browser.leave_by("tbody a")
    browser.click("#act-delete")
    browser.driver.switch_to.alert.dismiss()
    assert statuses(hall_database, "mirror") == {"failed": 1}
    browser.js("window.stale = true")
    browser.click("#act-delete")
    browser.driver.switch_to.alert.accept()
    browser.arrived()
    assert browser.text("#flash") == "Deleted."
    assert statuses(hall_database, "mirror") == {}


@pytest.mark.parametrize("kind", ["jobs", "a running job", "a failed job", "a waiting job", "queues", "an operation"])
def test_a_viewer_sees_no_buttons(browser: Browser, scenery: Scenery, kind: str) -> None:
    browser.as_user("vera")
    browser.open(scenery.pages[kind])
    assert browser.text(".tools .tag") == "viewer"
    assert browser.count(f"{BUTTONS}, #bulk-bar, [data-pause], #actions") == (1 if kind == "jobs" else 0)
    assert browser.count("form[role=search] button") == (1 if kind == "jobs" else 0), "searching is looking"
