"""The demo from beginning to end: one in a pipe and one in a terminal, both at once."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.demo.performances import PATIENCE, Performance, processes_of, without_control_sequences

pytestmark = [pytest.mark.xdist_group("demo"), pytest.mark.timeout(2 * PATIENCE)]

OUTCOMES = {
    "encode_film": ("completed", 2, 1),
    "resize_photos": ("completed", 1, 0),
    "find_primes": ("completed", 1, 0),
    "call_flaky_api": ("completed", 3, 0),
    "import_catalogue": ("cancelled", 1, 0),
    "send_email ada": ("completed", 1, 0),
    "send_email grace": ("completed", 1, 0),
    "print_label low": ("completed", 1, 0),
    "print_label normal": ("completed", 1, 0),
    "print_label high": ("completed", 1, 0),
    "send_reminder": ("completed", 1, 0),
    "open_bad_file": ("failed", 3, 3),
}


@dataclass
class Ended:
    code: int
    output: str
    left_behind: list[str]
    leftovers: list[Path]


@pytest.fixture(scope="module")
def both(place: Path) -> Iterator[dict[str, Ended]]:
    began = time.monotonic()
    performances = {"pipe": Performance(place), "terminal": Performance(place, terminal=True)}
    try:
        codes = {where: performance.end() for where, performance in performances.items()}
        print(f"two demos at once took {time.monotonic() - began:.0f} s; the target for one is under 60")
        left_behind, leftovers = processes_of(place), list(place.iterdir())
        yield {
            where: Ended(codes[where], performance.output, left_behind, leftovers)
            for where, performance in performances.items()
        }
    finally:
        for performance in performances.values():
            performance.close()


@pytest.fixture(params=["pipe", "terminal"])
def ended(request: pytest.FixtureRequest, both: dict[str, Ended]) -> Ended:
    return both[request.param]


def test_it_ends_well_and_says_how_long_it_took(ended: Ended) -> None:
    assert ended.code == 0, ended.output
    found = re.search(r"Everything ended as expected, .* in (\d+) s", ended.output)
    assert found, ended.output
    print(f"the demo says it took {found[1]} s")


@pytest.mark.parametrize("label", OUTCOMES)
def test_the_summary_tells_each_outcome(ended: Ended, label: str) -> None:
    outcome, attempts, deaths = OUTCOMES[label]
    text = without_control_sequences(ended.output)
    assert re.search(rf"^{label} +{outcome} +{attempts} +{deaths} +[0-9.]+ s ", text, re.MULTILINE), text


def test_nothing_is_left_behind(ended: Ended) -> None:
    assert ended.left_behind == []
    assert ended.leftovers == []


def test_it_says_what_happens_to_workers_and_what_to_do_next(ended: Ended) -> None:
    text = without_control_sequences(ended.output)
    assert re.search(r"kill -9 \d+: worker [AB] dies with encode_film at \d+ %", text)
    assert re.search(r"worker [AB] has taken encode_film over, attempt 2", text)
    assert len(re.findall(r"worker [AB]\d died \(SIGKILL\); a new one, [AB]\d, takes its place", text)) == 3
    for hint in ("README.md", "howdah up", "howdah db start && howdah migrate && howdah db psql"):
        assert hint in text


def test_a_pipe_gets_no_control_characters(both: dict[str, Ended]) -> None:
    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f]", both["pipe"].output) is None
    assert re.search(r"encode_film +orphaned +\d+ %", both["pipe"].output)


def test_a_terminal_gets_bars_that_move(both: dict[str, Ended]) -> None:
    output = both["terminal"].output
    text = without_control_sequences(output)
    drawn = {int(percent) for percent in re.findall(r"encode_film +running +[━╸╺]+ +(\d+)", text)}
    assert len(drawn) > 10, sorted(drawn)
    assert re.search(r"send_reminder +scheduled +━+ +in \d\.\d s", text)
    assert output.count("\x1b[?25l") == output.count("\x1b[?25h") == 1, "the cursor is hidden, and given back"
