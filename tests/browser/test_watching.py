"""A job watched in the browser: its bar, its events, its cancellation, and nothing that jumps."""

from __future__ import annotations

from datetime import timedelta

from tests.browser.chromium import Browser
from tests.browser.hall import Hall
from tests.browser.scenery import Scenery
from tests.rig.waiting import until

BAR = "#progress progress"
STEADY = ("#progress", "#attempts", "#events", "#facts", "#arguments", "#result")


def test_a_bar_moves_from_0_to_100_without_a_reload(browser: Browser, hall: Hall) -> None:
    job = hall.handlers["encode"].using(delay=timedelta(hours=1)).enqueue(video=42)
    browser.open(f"/jobs/{job.id}")
    assert browser.value(BAR) == 0
    browser.until_text("#why", "Why it is not running")
    browser.until_text("#live-state", "live")
    browser.js("window.unreloaded = true")
    browser.watch_shifts()
    places = {name: browser.corner(name) for name in STEADY}
    job.retry()
    browser.until_text(".head .status", "running")
    browser.until_text("#why", "It waits no longer.")
    browser.until_text("#attempts", "Attempt 1")
    seen = []
    for percent, stage in ((1, "download"), (40, "encode"), (41, "encode 4k"), (99, "upload")):
        hall.tell(job, "event", "stage", {"name": stage})
        hall.tell(job, "progress", percent, stage)
        browser.until_value(BAR, percent)
        seen.append((browser.text("#progress .percent"), browser.text("#progress .stage")))
    assert seen == [("1 %", "download"), ("40 %", "encode"), ("41 %", "encode 4k"), ("99 %", "upload")]
    until(lambda: browser.count("#event-rows tr") == 4, "the events are there")
    assert browser.shifts() == [], "the page jumped while the bar moved"
    assert {name: browser.corner(name) for name in STEADY} == places
    hall.tell(job, "return", {"url": "https://videos.example/42-hd.mp4"})
    until(lambda: browser.value(BAR) == 100, "the bar is at 100")
    browser.until_text(".head .status", "completed")
    browser.until_text("#result", "42-hd.mp4")
    assert browser.js("return window.unreloaded") is True
    assert browser.text("#act-retry") == "Retry"


def test_a_running_job_is_cancelled(browser: Browser, hall: Hall) -> None:
    job = hall.enqueue("encode", video=7)
    hall.tell(job, "progress", 30, "encoding")
    browser.open(f"/jobs/{job.id}")
    until(lambda: browser.value(BAR) == 30, "it runs")
    browser.leave_by("#act-cancel")
    assert browser.text("#flash") in (
        "Cancellation requested: its worker will be told within a second.",
        "Cancelled: it will never run.",
    )
    browser.until_text(".head .status", "cancelled")
    until(lambda: browser.text("#act-retry"), "the buttons fit a job that has ended")
    assert browser.count("#act-cancel") == 0
    assert job.refresh().status == "cancelled"


def test_the_list_follows_its_jobs(browser: Browser, hall: Hall) -> None:
    jobs = [hall.enqueue("thumbnail", video=n) for n in range(3)]
    for job in jobs:
        hall.tell(job, "progress", 10, "begun")
    browser.open("/jobs?q=type%3Dthumbnail")
    rows = [f'tr[data-job="{job.id}"]' for job in jobs]
    for row in rows:
        browser.until_value(f"{row} progress", 10)
    browser.watch_shifts()
    places = [browser.place(row) for row in rows]
    hall.tell(jobs[0], "progress", 55, "a stage with a name that is much longer than the column is wide, and goes on")
    hall.tell(jobs[1], "return", None)
    hall.tell(jobs[2], "fail", "no such video")
    until(lambda: browser.value(f"{rows[0]} progress") == 55, "the bar moves")
    browser.until_text(f"{rows[1]} .status", "completed")
    browser.until_text(f"{rows[2]} .status", "failed")
    assert [browser.place(row) for row in rows] == places
    assert browser.shifts() == []
    hall.tell(jobs[0], "return", None)
    browser.until_text(f"{rows[0]} .status", "completed")


def test_the_overview_stands_still_while_its_figures_change(browser: Browser, hall: Hall, scenery: Scenery) -> None:
    browser.open("/")
    browser.until_text("#health", "checks")
    sections = ("#charts", "#running", "#queues", "#failures", "#health", "#workers")
    browser.watch_shifts()
    places = {name: browser.corner(name) for name in sections}
    job = scenery.running[-1]
    for percent in (42, 43, 44):
        hall.tell(job, "progress", percent, f"row {percent},000 of 100,000")
        browser.until_value(f'#running tr[data-job="{job.id}"] progress', percent)
    assert browser.shifts() == []
    assert {name: browser.corner(name) for name in sections} == places


def test_a_job_that_starts_shows_up_in_the_overview_without_a_reload(
    browser: Browser, hall: Hall, scenery: Scenery
) -> None:
    browser.open("/")
    browser.js("window.unreloaded = true")
    queues = browser.corner("#queues")
    job = hall.enqueue("encode", video=1)
    hall.tell(job, "progress", 5, "begun")
    until(lambda: browser.value(f'#running tr[data-job="{job.id}"] progress') == 5, "it is shown")
    assert browser.js("return window.unreloaded") is True
    assert browser.corner("#queues") == queues, "what stands below was pushed down"
    hall.tell(job, "return", None)
    until(lambda: not browser.count(f'#running tr[data-job="{job.id}"]'), "it is gone")
    assert browser.corner("#queues") == queues
