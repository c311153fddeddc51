"""Error texts made fit to store and to show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.payload.sanitise import clean_text
from tests.payload.payload_cases import repeatable


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("plain\n\ttext ü €", "plain\n\ttext ü €"),
        ("a\0b", "a\ufffdb"),
        ("a\ud800b\udfff", "a\ufffdb\ufffd"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[38;5;196;1mred\x1b[m", "red"),
        ("\x9b31mred", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b(Bcharset", "charset"),
        ("\x1bMup", "up"),
        ("cut off \x1b", "cut off "),
        ("cut off \x1b]0;title", "cut off ]0;title"),
        ("line\r\nnext\x08\x07\x7f\x85", "line\nnext"),
        ("", ""),
    ],
)
def test_what_cannot_be_stored_or_shown_goes(dirty: str, clean: str) -> None:
    assert clean_text(dirty, 1000) == clean


def test_a_text_of_exactly_the_limit_is_whole() -> None:
    assert clean_text("ü" * 50, 100) == "ü" * 50


def test_a_text_over_the_limit_keeps_its_head_and_its_tail() -> None:
    mark = "… [truncated, 101 bytes in all]"
    cut = clean_text("head" + "x" * 93 + "tail", 100)
    assert cut == "head" + "x" * 30 + mark + "x" * 29 + "tail"
    assert len(cut.encode()) == 100


def test_the_cut_never_splits_a_character() -> None:
    cut = clean_text("😀" * 100, 101)
    head, mark, tail = cut.partition("… [truncated, 400 bytes in all]")
    assert mark
    assert set(head) == set(tail) == {"😀"}


def test_the_size_named_is_that_of_the_cleaned_text() -> None:
    assert "200 bytes in all" in clean_text("\x1b[31m" * 100 + "x" * 200, 100)


@pytest.mark.parametrize("limit", [0, 1, 5, 32, 33, 34])
def test_a_limit_too_small_for_the_mark_still_holds(limit: int) -> None:
    assert len(clean_text("ü" * 100, limit).encode()) <= limit


@repeatable
@given(st.text(st.characters()), st.integers(0, 200))
def test_any_text_fits_the_limit_and_the_column(text: str, limit: int) -> None:
    cleaned = clean_text(text * 3, limit)
    assert len(cleaned.encode()) <= limit
    assert "\0" not in cleaned
    assert not any(ord(letter) < 32 and letter not in "\n\t" for letter in cleaned)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("unit", ["\x1b]", "\x1b[", "\x1b[1;", "\x1b]0;", "\x1b "])
def test_endless_half_sequences_are_cleaned_in_linear_time(unit: str) -> None:
    assert "\x1b" not in clean_text(unit * 300_000, 10_000_000)
