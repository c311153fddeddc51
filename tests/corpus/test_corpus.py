"""The corpus itself."""

from __future__ import annotations

from tests.corpus.corpus import inputs, json_texts, strings, values
from tests.corpus.judging import fits, storable


def test_the_corpus_has_more_than_ten_thousand_inputs() -> None:
    assert inputs() >= 10_000
    assert len(strings()) == len(set(strings()))
    assert len(json_texts()) == len(set(json_texts()))


def test_the_corpus_has_enough_of_the_good_and_of_the_bad() -> None:
    texts = strings()
    assert 500 < sum(not storable(text) for text in texts) < len(texts) / 2
    assert sum(fits(text, 1, 50) for text in texts) > 1000
    assert sum(len(text) > 100 for text in texts) > 100
    assert len(values()) > 4000
