"""An exhibit: where a bug is planted, and who must catch it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXHIBITS = Path(__file__).parent / "exhibits"


class OutOfDate(Exception):
    """The text that an exhibit changes is not there exactly once: the source has moved on."""


@dataclass(frozen=True)
class Change:
    """One text for another, in one file."""

    file: str
    old: str
    new: str

    def applied(self, text: str) -> str:
        """The file's text with the bug in it."""
        if (found := text.count(self.old)) != 1:
            raise OutOfDate(f"{self.file} has this {found} times instead of once:\n{self.old}")
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Exhibit:
    """A bug. `waits`: its symptom is that something never happens, so a test's own deadline is what catches it."""

    name: str
    story: str
    tests: tuple[str, ...]
    changes: tuple[Change, ...]
    waits: bool = False

    def planted(self, root: Path) -> dict[Path, str]:
        """The files that it changes, as they would read."""
        texts: dict[Path, str] = {}
        for change in self.changes:
            path = root / change.file
            texts[path] = change.applied(texts.get(path) or path.read_text())
        return texts

    @contextmanager
    def plant(self, root: Path) -> Iterator[None]:
        """The bug is in that copy while the block runs."""
        planted = self.planted(root)
        sound = {path: path.read_text() for path in planted}
        try:
            for path, text in planted.items():
                path.write_text(text)
            yield
        finally:
            for path, text in sound.items():
                path.write_text(text)


def read_exhibit(path: Path) -> Exhibit:
    """The exhibit of one file; whatever it says must be known here."""
    said = tomllib.loads(path.read_text())
    changes = tuple(Change(**change) for change in said.pop("change"))
    story, tests = " ".join(said.pop("story").split()), tuple(said.pop("tests"))
    return Exhibit(path.stem, story, tests, changes, **said)


def all_exhibits() -> list[Exhibit]:
    """Every exhibit, by name."""
    return [read_exhibit(path) for path in sorted(EXHIBITS.glob("*.toml"))]
