"""What counts as caught: a named test failed, in its own body, because of what it saw, and not because the planted code
could not even run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

#: pytest's exit code for "tests ran, and some failed".
_SOME_FAILED = 1
#: The code does not run at all: nobody would have needed a test.
_BROKEN = {"ImportError", "SyntaxError", "NameError", "ProgrammingError"}


@dataclass(frozen=True)
class Note:
    """How a part of a test ended; `kinds` are the classes of its error, the nearest first."""

    test: str
    part: str
    outcome: str
    kinds: Sequence[str] = ()
    said: str = ""

    @property
    def reason(self) -> str:
        """Its error in a line."""
        first = next((line.strip() for line in self.said.splitlines() if line.strip()), "")
        return f"{self.kinds[0] if self.kinds else self.outcome}: {first}"[:160]

    @property
    def waited(self) -> bool:
        """Whether it failed because something that it awaited did not come before its own deadline."""
        return "WaitTimeout" in self.kinds or (self.said.startswith("waited ") and "in vain" in self.said)


@dataclass(frozen=True)
class Ended:
    """A run of tests: pytest's exit code (None: it was killed, out of time) and the notes of the witness."""

    code: int | None
    notes: Sequence[Note]
    output: str = ""


@dataclass(frozen=True)
class Verdict:
    """Whether an exhibit was caught; by which test and with what error, or why not."""

    caught: bool
    by: str
    why: str


def passed(ended: Ended) -> set[str]:
    """The tests that passed in all their parts."""
    bad = {note.test for note in ended.notes if note.outcome != "passed"}
    return {note.test for note in ended.notes if note.part == "call"} - bad


def skipped(ended: Ended) -> dict[str, str]:
    """The tests that this machine cannot run, and what they need."""
    return {note.test: note.said for note in ended.notes if note.outcome == "skipped"}


def is_of(test: str, named: Iterable[str]) -> bool:
    """Whether a test is one of those named; who names one without its parameters means all of them."""
    return any(name in (test, test.partition("[")[0]) for name in named)


def judge(ended: Ended, tests: Sequence[str], *, waits: bool) -> Verdict:
    """Whether these tests caught the bug that was planted when they ran."""
    if ended.code is None:
        return Verdict(False, "", "the tests did not end in time")
    if ended.code != _SOME_FAILED:
        return Verdict(False, "", "every test passed" if ended.code == 0 else f"pytest ended with code {ended.code}")
    failed = [note for note in ended.notes if note.outcome == "failed" and is_of(note.test, tests)]
    if not failed:
        return Verdict(False, "", "no named test failed")
    note = failed[0]
    if note.part != "call":
        return Verdict(False, note.test, f"it failed in its {note.part}, not in the test: {note.reason}")
    if note.said.startswith("Timeout"):
        return Verdict(False, note.test, "the runner's time limit ended it")
    if _BROKEN.intersection(note.kinds):
        return Verdict(False, note.test, f"the planted code does not run: {note.reason}")
    if note.waited and not waits:
        return Verdict(False, note.test, f"it waited in vain, which the exhibit does not expect: {note.reason}")
    return Verdict(True, note.test, note.reason)
