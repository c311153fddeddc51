"""A pytest plugin for the process in which an exhibit's tests run: writes down which howdah they met, how each of them
ended, and with what kind of error."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path

import pytest

import howdah

NOTES = "MUSEUM_NOTES"


def pytest_sessionstart() -> None:
    """The first note: which code is under test."""
    _note({"howdah": howdah.__file__})


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A note for every part of a test: its set-up, the test itself, its clean-up."""
    report = yield
    kinds = [] if call.excinfo is None else [kind.__name__ for kind in call.excinfo.type.__mro__]
    said = "" if call.excinfo is None else str(call.excinfo.value)
    _note({"test": item.nodeid, "part": report.when, "outcome": report.outcome, "kinds": kinds, "said": said[:2000]})
    return report


def _note(what: dict[str, object]) -> None:
    with Path(os.environ[NOTES]).open("a") as notes:
        notes.write(json.dumps(what) + "\n")
