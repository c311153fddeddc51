"""When watchers are told, and how seldom it is asked whether there are any."""

from __future__ import annotations

from howdah.worker.teller import ASK_SECONDS, Teller


def test_the_first_news_asks() -> None:
    told = Teller()
    assert not told.wait(0)
    told.note()
    assert told.wait(0)


def test_where_nobody_watches_it_is_asked_about_once_a_second() -> None:
    told = Teller()
    told.note()
    told.begin()
    told.note()
    told.answered(False)
    assert not told.wait(0), "what came while it was asked is told to nobody"
    told.note()
    assert not told.wait(0)
    told._asked -= ASK_SECONDS
    told.note()
    assert told.wait(0)


def test_where_somebody_watches_everything_is_told() -> None:
    told = Teller()
    told.note()
    told.begin()
    told.note()
    told.answered(True)
    assert told.wait(0), "what was written after the ring began is news"
    told.begin()
    told.answered(True)
    assert not told.wait(0)
    told.note()
    assert told.wait(0)


def test_a_question_that_failed_is_asked_again() -> None:
    told = Teller()
    told.note()
    told.begin()
    told.note()
    assert told.wait(0)
