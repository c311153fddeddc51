"""Runs tests in a copy of the working tree, in a process of their own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from museum.exhibit import ROOT
from museum.judge import Ended, Note
from museum.witness import NOTES

#: For each of the named tests together; only a broken program takes so long.
_SECONDS = 240
#: How long the tests wait for what does not come. A planted bug may mean that it never does, and nobody likes to wait.
_DEADLINE_SECONDS = "20"


class Escaped(Exception):
    """The tests met another howdah than the copy's."""


@contextmanager
def copies(many: int) -> Iterator[list[Path]]:
    """As many copies of the working tree: what is tracked, and what is new and not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607 - git is on the path
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    # Reachable for the account that a test's server runs as, which may be another.
    folder = Path(tempfile.mkdtemp(prefix="howdah-museum-", dir="/var/tmp"))
    folder.chmod(0o755)
    try:
        made = [folder / str(number) for number in range(many)]
        for copy in made:
            for name in filter(None, listed.stdout.split("\0")):
                if (ROOT / name).is_file():
                    (copy / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(ROOT / name, copy / name)
        yield made
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_tests(copy: Path, tests: Sequence[str], *options: str) -> Ended:
    """Run these tests on the copy's own code."""
    notes = copy / "museum-notes"
    notes.unlink(missing_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "museum.witness", *options, *tests],
        cwd=copy,
        env=_environment(copy, notes),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=_SECONDS)
        code: int | None = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, code = process.communicate()[0], None
    written = [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []
    for note in written:
        if "howdah" in note and not Path(note["howdah"]).is_relative_to(copy):
            raise Escaped(f"the tests met {note['howdah']}")
    return Ended(code, [Note(**note) for note in written if "test" in note], output)


def _environment(copy: Path, notes: Path) -> dict[str, str]:
    # Without what a pytest around this one has put there.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return {
        **kept,
        # Before the editable install, whose src is not the copy's.
        "PYTHONPATH": os.pathsep.join([str(copy / "src"), str(copy)]),
        # A file that changes and changes back within a second would otherwise be taken for what was compiled before.
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOWDAH_TEST_DEADLINE": _DEADLINE_SECONDS,
        NOTES: str(notes),
    }
