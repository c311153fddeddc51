"""The museum of bugs: its exhibits are up to date, its judge is strict, and every exhibit is caught."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest

from museum.exhibit import ROOT, Change, Exhibit, OutOfDate, all_exhibits
from museum.judge import Ended, Note, judge, passed, skipped
from museum.page import PAGE, Shown, summary, write_page
from tests.conftest import majors
from tests.programs import require

EXHIBITS = all_exhibits()
TEST = "tests/test_x.py::test_x"


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda exhibit: exhibit.name)
def test_the_text_that_an_exhibit_changes_is_in_the_source_exactly_once(exhibit: Exhibit) -> None:
    for path, text in exhibit.planted(ROOT).items():
        assert text != path.read_text()
        assert str(path.relative_to(ROOT)).startswith("src/"), "bugs are planted in the product, not in its tests"
        if path.suffix == ".py":
            compile(text, str(path), "exec")
    assert exhibit.tests
    assert len(exhibit.story) > 60


def test_there_are_at_least_twenty_four_and_no_two_are_the_same() -> None:
    assert len(EXHIBITS) >= 24
    assert len({exhibit.changes for exhibit in EXHIBITS}) == len(EXHIBITS)


def test_the_tests_that_exhibits_name_exist() -> None:
    named = sorted({test for exhibit in EXHIBITS for test in exhibit.tests})
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *named]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert told.returncode == 0, told.stdout + told.stderr


def test_the_page_says_what_the_exhibits_say() -> None:
    assert PAGE.read_text() == write_page(EXHIBITS), "run `python -m museum --write-page`"


def test_a_text_that_is_not_there_or_there_twice_is_out_of_date() -> None:
    change = Change("f", "a", "b")
    assert change.applied("xax") == "xbx"
    for text in ("xx", "xaxa"):
        with pytest.raises(OutOfDate, match="instead of once"):
            change.applied(text)


def ended(*notes: Note, code: int | None = 1) -> Ended:
    return Ended(code, notes)


def failed(said: str = "assert 1 == 2", part: str = "call", kinds: Sequence[str] = ("AssertionError",)) -> Note:
    return Note(TEST, part, "failed", kinds, said)


WAITED = "waited 20.0 s in vain until it rains; last answer: False"
NOT_CAUGHT = {
    "every test passed": ended(Note(TEST, "call", "passed"), code=0),
    "pytest ended with code 2": ended(code=2),
    "did not end in time": ended(failed(), code=None),
    "no named test failed": ended(Note("tests/test_x.py::test_y", "call", "failed")),
    "failed in its setup": ended(failed(part="setup")),
    "failed in its teardown": ended(failed(part="teardown")),
    "the runner's time limit": ended(failed("Timeout (>120.0s) from pytest-timeout.", kinds=("Failed",))),
    "does not run: ModuleNotFoundError": ended(failed(kinds=("ModuleNotFoundError", "ImportError", "Exception"))),
    "does not run: NameError": ended(failed(kinds=("NameError", "Exception"))),
    "does not run: UndefinedColumn": ended(failed(kinds=("UndefinedColumn", "ProgrammingError", "Error"))),
    "waited in vain": ended(failed(WAITED)),
    "which the exhibit does not expect: WaitTimeout": ended(failed("", kinds=("WaitTimeout", "HowdahError"))),
}


@pytest.mark.parametrize("why", NOT_CAUGHT)
def test_what_does_not_count_as_caught(why: str) -> None:
    verdict = judge(NOT_CAUGHT[why], [TEST], waits=False)
    assert not verdict.caught
    assert why in verdict.why


@pytest.mark.parametrize("said", ["assert 1 == 2", WAITED])
def test_what_counts_as_caught(said: str) -> None:
    verdict = judge(ended(failed(said)), [TEST], waits=True)
    assert (verdict.caught, verdict.by) == (True, TEST)
    assert said[:20] in verdict.why
    one_of_many = ended(Note(f"{TEST}[newest-1]", "call", "failed", ("AssertionError",), "assert"))
    assert judge(one_of_many, [TEST], waits=False).caught
    assert not judge(one_of_many, [f"{TEST}[newest-2]"], waits=False).caught


def test_a_test_counts_as_passed_only_with_all_its_parts() -> None:
    whole = ended(Note("a", "setup", "passed"), Note("a", "call", "passed"), Note("a", "teardown", "passed"))
    assert passed(whole) == {"a"}
    assert passed(ended(*whole.notes, Note("a", "teardown", "failed"))) == set()
    needs = ended(Note("a", "setup", "skipped", ("Skipped",), "needs pgbouncer"))
    assert (passed(needs), skipped(needs)) == (set(), {"a": "needs pgbouncer"})


def test_the_last_line_says_what_was_missed_and_what_was_not_shown() -> None:
    exhibit = Exhibit("one", "", (), ())
    caught = Shown(exhibit, judge(ended(failed()), [TEST], waits=False), 1.0)
    missed = Shown(Exhibit("two", "", (), ()), judge(ended(code=0), [TEST], waits=False))
    unable = Shown(exhibit, None, needs="needs pgbouncer")
    assert summary([caught, caught]) == "museum caught: all (2/2)"
    assert summary([caught, unable]) == "museum caught: all (1/1, 1 not shown)"
    assert summary([caught, missed]) == "museum caught: 1/2; not caught: two"
    assert ("NOT CAUGHT two" in missed.line, "needs pgbouncer" in unable.line) == (True, True)


# Three minutes on two free cores; a machine that is busy with other things takes its time.
@pytest.mark.long
@pytest.mark.timeout(1800)
def test_every_exhibit_is_caught() -> None:
    require(majors(), "PostgreSQL programs")
    command = [sys.executable, "-m", "museum", "--together"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    print(told.stdout)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "museum caught: all" in told.stdout.splitlines()[-1]
