from __future__ import annotations

from datetime import timedelta

import click
import pytest

from howdah.cli.durations import duration
from howdah.model.durations import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("500ms", 0.5),
        ("30s", 30),
        ("10m", 600),
        ("1h30m", 5400),
        ("2d", 172800),
        ("1w", 604800),
        ("1.5s", 1.5),
        ("1m30s250ms", 90.25),
        ("12", 12),
        ("0", 0),
        (" 3S ", 3),
    ],
)
def test_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text", ["", "s", "1x", "-5s", "1h-30m", "5 minutes", "1e3", "nan", "٣s", "10m garbage", "9" * 30]
)
def test_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no duration|too long"):
        parse_duration(text)
    with pytest.raises(click.BadParameter):
        duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (0.25, "250ms"), (12, "12s"), (90, "1m30s"), (3600, "1h"), (90061, "1d1h"), (-3, "0s"), (86405, "1d")],
)
def test_shown_in_its_two_largest_units(seconds: float, text: str) -> None:
    assert format_duration(timedelta(seconds=seconds)) == text
