"""Ids, backoff and the context: small rules, each with its edge."""

from __future__ import annotations

import math
import threading
import time
from datetime import timedelta

import pytest

from howdah import Backoff, JobCancelled, JobContext, LeaseLost, OptionError, Retry, Snooze
from howdah.model.context import EVENTS_WAITING_LIMIT, Report
from howdah.model.job_id import new_job_id, new_job_ids


def context() -> JobContext:
    return JobContext(new_job_id(), "t", "q", 1, 3, repr)


def test_ids_are_version_seven_of_now_and_ascend_across_threads() -> None:
    made: list[int] = []

    def make() -> None:
        mine = [job_id.int for job_id in new_job_ids(2000)]
        assert mine == sorted(mine)
        made.extend(mine)

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 8000
    one = new_job_id()
    assert (one.version, one.variant) == (7, "specified in RFC 4122")
    assert abs((one.int >> 80) / 1000 - time.time()) < 60
    assert one.int > max(made)


def test_backoff_grows_with_full_jitter_and_is_bounded() -> None:
    backoff = Backoff(base=timedelta(seconds=1), longest=timedelta(seconds=10))
    for errors, most in ((0, 1), (1, 2), (2, 4), (3, 8), (4, 10), (10_000, 10)):
        delays = [backoff(errors, ValueError()).total_seconds() for _ in range(200)]
        assert 0 <= min(delays) < most / 2 < max(delays) <= most
    assert Backoff(base=timedelta(milliseconds=10), jitter=False)(0, ValueError()) == timedelta(milliseconds=10)


def test_progress_is_bounded_and_never_goes_backwards() -> None:
    ctx = context()
    for percent in (-5, 30.9, 10, 250):
        ctx.progress(percent)
    assert ctx.take_report() == Report(progress=100)
    assert not ctx.take_report()
    for endless, whole in ((math.inf, 100), (10**400, 100), (-math.inf, None), (-(10**400), None)):
        ctx = context()
        ctx.progress(endless)
        assert ctx.take_report().progress == whole
    for bad in (math.nan, "50", None, True):
        with pytest.raises(OptionError, match="0 to 100"):
            ctx.progress(bad)  # type: ignore[arg-type]  # wrong on purpose: handlers may be untyped


def test_a_stage_is_cut_and_cleaned_rather_than_refused() -> None:
    ctx = context()
    ctx.progress(1, stage="x" * 200)
    assert ctx.take_report().stage == "x" * 99 + "…"
    ctx.progress(2, stage="a\0b\ud800")
    stage = ctx.take_report().stage
    assert stage is not None
    assert "\0" not in stage
    stage.encode()


@pytest.mark.parametrize("name", ["", "x" * 101, "a\0", "\ud800", 5])
def test_events_with_impossible_names_are_refused(name: str) -> None:
    with pytest.raises(OptionError, match="event's name"):
        context().event(name)


def test_a_torrent_of_events_is_stopped() -> None:
    ctx = context()
    for _ in range(EVENTS_WAITING_LIMIT):
        ctx.event("e")
    with pytest.raises(OptionError, match="events in a second"):
        ctx.event("one too many")


def test_a_report_that_could_not_be_written_comes_back_in_order() -> None:
    ctx = context()
    ctx.progress(10, "first")
    ctx.event("one")
    taken = ctx.take_report()
    ctx.event("two")
    ctx.progress(20)
    ctx.put_back(taken)
    again = ctx.take_report()
    assert (again.progress, again.stage, [event[:2] for event in again.events]) == (
        20,
        "first",
        [(1, "one"), (2, "two")],
    )


def test_check_raises_once_cancelled_or_lost() -> None:
    ctx = context()
    ctx.check()
    ctx.mark_cancelled()
    with pytest.raises(JobCancelled):
        ctx.check()
    ctx.mark_lost()
    with pytest.raises(LeaseLost):
        ctx.check()


@pytest.mark.parametrize("delay", [timedelta(seconds=-1), timedelta(days=99_999), 5])
def test_outcomes_refuse_absurd_delays(delay: timedelta) -> None:
    with pytest.raises(OptionError):
        Snooze(delay)
    with pytest.raises(OptionError):
        Retry(after=delay)


def test_reports_of_another_process_come_after_what_waits_and_win() -> None:
    ctx = context()
    ctx.progress(10, "old")
    ctx.event("one")
    ctx.add_report(Report(30, "new", [(7, "two", None, 0.0), (8, "three", None, 0.0)]))
    report = ctx.take_report()
    assert (report.progress, report.stage) == (30, "new")
    assert [event[:2] for event in report.events] == [(1, "one"), (2, "two"), (3, "three")]
