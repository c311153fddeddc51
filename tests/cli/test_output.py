"""What commands make of values that Python itself can hardly hold."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from howdah.cli.main import say
from howdah.cli.output import json_text, printable
from howdah.db.readable import _loads


@pytest.fixture(params=["Asia/Tokyo", "America/Los_Angeles", "UTC"])
def _zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("_zone")
@pytest.mark.parametrize("end", [datetime.max, datetime.min])
def test_the_ends_of_time_are_shown_in_every_zone(end: datetime) -> None:
    assert printable(end.replace(tzinfo=UTC))[:4] in ("9999", "0001")


def test_a_number_of_very_many_digits_is_read_and_shown() -> None:
    digits = "9" * 5000
    assert _loads(f'{{"a": {digits}}}') == {"a": Decimal(digits)}
    assert json_text({"a": Decimal(digits)}) == f'{{"a": "{digits}"}}'


@pytest.mark.parametrize("kind", [str, str.encode])
def test_json_that_is_nested_too_deep_is_read_as_its_text(kind: type) -> None:
    text = "[" * 100_000 + "]" * 100_000
    assert _loads(kind(text)) == text
    assert json.loads(json_text(_loads(text))) == text


def test_a_mistake_that_is_quoted_plays_no_tricks_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert say("No such option: --\x1b[31mred\x07\nx", 2) == 2
    assert capsys.readouterr().err == "howdah: No such option: --\ufffd[31mred\ufffd x\n"
