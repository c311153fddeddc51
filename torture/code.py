"""Which Howdah a process runs: this checkout's, or the one before its newest migration, from the history."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

from torture.paths import ROOT

_SOURCE = "src/howdah"
_MIGRATIONS = f"{_SOURCE}/sql/migrations"


@dataclass(frozen=True, slots=True)
class Code:
    """A state of Howdah's source; `source` None: this checkout's."""

    name: str
    source: Path | None = None

    def environment(self) -> dict[str, str]:
        """What a process needs to run it. The rig's own modules are this checkout's in any case."""
        return {**os.environ, "PYTHONPATH": str(self.source)} if self.source is not None else dict(os.environ)

    def migrate(self, url: str) -> None:
        """Make its schema."""
        command = [sys.executable, "-m", "howdah", "migrate", "--url", url]
        done = subprocess.run(command, cwd=ROOT, env=self.environment(), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{self.name} could not migrate: {done.stderr.strip()}")


NEW = Code("this checkout")


def older(folder: Path) -> Code:
    """The commit before the one that brought the newest migration, laid out below that folder."""
    commit = _before(_newest())
    place = folder / "older"
    with tarfile.open(fileobj=io.BytesIO(_git("archive", "--format=tar", commit, _SOURCE))) as archive:
        archive.extractall(place, filter="data")
    return Code(f"{commit}, before {_newest().removesuffix('.sql')}", place / "src")


def why_no_older() -> str | None:
    """What keeps the code before from being had; None: nothing."""
    try:
        _before(_newest())
    except RuntimeError as error:
        return str(error)
    return None


def _newest() -> str:
    return max((ROOT / _MIGRATIONS).glob("*.sql")).name


def _before(migration: str) -> str:
    brought = _git("log", "--diff-filter=A", "--format=%H", "-1", "--", f"{_MIGRATIONS}/{migration}").decode().strip()
    if not brought:
        raise RuntimeError(f"a rolling deploy needs the history of {migration}, which is not committed")
    return _git("rev-parse", "--short", f"{brought}~1").decode().strip()


def _git(*words: str) -> bytes:
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True)  # noqa: S607 - the user's own git
    except (OSError, subprocess.CalledProcessError) as error:
        said = (
            error.stderr.decode(errors="replace").strip() if isinstance(error, subprocess.CalledProcessError) else error
        )
        raise RuntimeError(f"a rolling deploy needs git and a clone with the whole history: {said}") from error
    return done.stdout
