"""Benches on a server that the test run starts: tiny, and never judged by their times."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from howdah.bench.settings import BenchSettings
from howdah.bench.stage import Stage, staged
from howdah.cli.main import exit_code
from tests.answers import Answer
from tests.conftest import Database

TINY = ("--jobs", "300", "--seconds", "0.6", "--rounds", "1", "--rate", "60", "--workers", "2", "--reporters", "20")
TINY_TABLES = ("--pending", "600", "--finished", "900", "--scheduled", "100", "--batch", "50")


class BenchAnswer(Answer):
    """Of `howdah bench --json`."""

    def scenario(self, name: str) -> dict[str, Any]:
        (found,) = [one for one in self.json["scenarios"] if one["scenario"] == name]
        assert isinstance(found, dict)
        return found

    def figure(self, scenario: str, name: str) -> float:
        value = self.scenario(scenario)["figures"][name]["median"]
        assert isinstance(value, int | float), (scenario, name)
        return value

    def must_be_right(self) -> BenchAnswer:
        """Everything was measured, and every job ran exactly once."""
        assert self.code == 0, self.err
        assert "WRONG" not in self.err
        for scenario in self.json["scenarios"]:
            assert scenario["troubles"] == []
            assert scenario["rounds"]
        return self


def environment(url: str, folder: Path) -> dict[str, str]:
    """Its temporary files go where the test's go: a bench that is killed leaves them."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("HOWDAH_", "PG"))}
    return {**inherited, "HOWDAH_URL": url, "TMPDIR": str(folder)}


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "howdah", "bench", *map(str, arguments)]


def run_bench(url: str, folder: Path, *arguments: object) -> BenchAnswer:
    done = subprocess.run(
        command(*arguments), cwd=folder, env=environment(url, folder), capture_output=True, text=True, timeout=110
    )
    return BenchAnswer(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def bench(database: Database, tmp_path: Path) -> Callable[..., BenchAnswer]:
    """`howdah bench` on the test's database."""
    return lambda *arguments: run_bench(database.url, tmp_path, *arguments)


@pytest.fixture
def bench_here(
    database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., BenchAnswer]:
    """The same in this process: for what ends before anything is started."""
    monkeypatch.setenv("HOWDAH_URL", database.url)
    monkeypatch.setattr("signal.signal", lambda *_: None)

    def run(*arguments: object) -> BenchAnswer:
        monkeypatch.setattr("sys.argv", ["howdah", "bench", *map(str, arguments)])
        capsys.readouterr()
        code = exit_code()
        return BenchAnswer(code, *capsys.readouterr())

    return run


@pytest.fixture
def stage(database: Database) -> Iterator[Stage]:
    """A stage in this process."""
    with staged(database.url, "howdah_bench", BenchSettings(rounds=1), lambda text: None) as made:
        yield made
