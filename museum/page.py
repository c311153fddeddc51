"""What the museum shows: the table of a visit, and docs/museum.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from museum.exhibit import ROOT, Exhibit
from museum.judge import Verdict

PAGE = ROOT / "docs" / "museum.md"
_HEAD = """\
# The museum of bugs

Mistakes that job queues make, planted here one at a time. `make museum` copies the working tree, shows that
the tests below pass there, and then plants each bug and shows that its test does not: every exhibit must be caught, by
a failed assertion or an error inside the test, and not because the planted code does not run. `make test` includes it.
An exhibit whose text is no longer found exactly once in the source is out of date, and a failure too.

The bugs are files in `museum/exhibits`; this page is written from them (`python -m museum --write-page`). Numbers such
as River#1302 are issues of the projects named, where the mistake, or its damage, was reported; a story without one is
of a mistake that this queue has made itself, or that its design invites.

| exhibit | what goes wrong | caught by |
|---|---|---|
"""


@dataclass(frozen=True)
class Shown:
    """An exhibit, what became of it, and how long that took. No verdict: this machine cannot run its tests."""

    exhibit: Exhibit
    verdict: Verdict | None
    seconds: float = 0.0
    needs: str = ""

    @property
    def line(self) -> str:
        """What the table says of it."""
        if self.verdict is None:
            return f"  not shown  {self.exhibit.name}: {self.needs}"
        if not self.verdict.caught:
            return f"  NOT CAUGHT {self.exhibit.name}: {self.verdict.by} {self.verdict.why}"
        by = _short(self.verdict.by)
        return f"  caught     {self.exhibit.name:<34} {self.seconds:5.1f} s  {by}\n{'':>13}{self.verdict.why}"


def summary(shown: Sequence[Shown]) -> str:
    """The last line of a visit."""
    tried = [one for one in shown if one.verdict is not None]
    caught = sum(1 for one in tried if one.verdict is not None and one.verdict.caught)
    left = f", {len(shown) - len(tried)} not shown" if len(tried) < len(shown) else ""
    if caught == len(tried):
        return f"museum caught: all ({caught}/{len(tried)}{left})"
    missed = ", ".join(one.exhibit.name for one in tried if one.verdict is not None and not one.verdict.caught)
    return f"museum caught: {caught}/{len(tried)}{left}; not caught: {missed}"


def write_page(exhibits: Sequence[Exhibit]) -> str:
    """The text of docs/museum.md."""
    rows = [
        f"| {exhibit.name} | {exhibit.story} | {'<br>'.join(f'`{_short(test)}`' for test in exhibit.tests)} |\n"
        for exhibit in exhibits
    ]
    return _HEAD + "".join(rows)


def _short(test: str) -> str:
    file, _, name = test.partition("::")
    return f"{file.removeprefix('tests/')}::{name.partition('[')[0].removeprefix('test_')}"
