"""What a supervisor decides, without any process."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from howdah.cli.readiness import Readiness
from howdah.cli.restarts import LONGEST_PAUSE, STEADY_SECONDS, Restarts
from howdah.cli.supervised import how_it_ended
from howdah.cli.worker import numbered, parse_processes
from howdah.model.errors import OptionError


def test_who_keeps_dying_waits_longer_and_longer_up_to_a_limit() -> None:
    restarts = Restarts()
    pauses = [restarts.pause(0.1) for _ in range(9)]
    assert pauses[0] == 0
    assert 0.5 <= pauses[1] <= 1 <= pauses[2] <= 2 <= pauses[3] <= 4
    assert all(LONGEST_PAUSE / 2 <= pause <= LONGEST_PAUSE for pause in pauses[6:])


def test_who_lived_for_a_while_is_started_again_at_once() -> None:
    restarts = Restarts()
    for _ in range(5):
        restarts.pause(0)
    assert restarts.pause(STEADY_SECONDS) == 0
    assert 0.5 <= restarts.pause(0) <= 1
    assert [restarts.pause(STEADY_SECONDS + 1) for _ in range(3)] == [0, 0, 0]


def test_auto_is_the_number_of_usable_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert parse_processes("auto") == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert parse_processes("auto") == 7
    assert (parse_processes("1"), parse_processes("1000")) == (1, 1000)


@pytest.mark.parametrize("text", ["", "0", "1001", "-1", "1.0", "Auto", "²"])
def test_other_numbers_are_refused(text: str) -> None:
    with pytest.raises(OptionError, match="--processes"):
        parse_processes(text)


def test_names_and_ends_in_words() -> None:
    assert (numbered("web", 2), numbered("web", None), numbered(None, 2)) == ("web.2", "web", None)
    assert [how_it_ended(code) for code in (-9, -64 - 5, 7)] == [
        "was killed by SIGKILL",
        "was killed by signal 69",
        "exited with code 7",
    ]


def test_a_ready_file_left_by_another_is_removed_first(tmp_path: Path) -> None:
    file = tmp_path / "ready"
    file.write_text("of a killed worker")
    readiness = Readiness(file, None)
    readiness.begin()
    assert not file.exists()
    readiness.ready("fine")
    assert list(tmp_path.iterdir()) == [file]
    assert file.read_text() == f"{os.getpid()}\n"
    readiness.stopping()
    readiness.ready("too late")
    readiness.stopping()
    assert not file.exists()


@pytest.mark.parametrize("name", ["", "missing/ready"])
def test_a_ready_file_that_cannot_be_made(tmp_path: Path, name: str) -> None:
    with pytest.raises(OptionError, match="--ready-file"):
        Readiness(tmp_path / name, None).begin()


def test_an_abstract_address(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        try:
            systemd.bind(f"\0howdah-test-{os.getpid()}")
        except OSError:
            pytest.skip("abstract addresses are Linux's own")
        monkeypatch.setenv("NOTIFY_SOCKET", f"@howdah-test-{os.getpid()}")
        readiness = Readiness.of_this_process(None)
        assert "NOTIFY_SOCKET" not in os.environ
        readiness.ready("2 processes")
        assert systemd.recv(1000) == b"READY=1\nSTATUS=2 processes"


def test_nobody_at_the_socket_is_no_reason_to_fail(tmp_path: Path) -> None:
    Readiness(None, str(tmp_path / "nobody")).stopping()
