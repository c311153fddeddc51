"""The corpus: more than ten thousand inputs, the same ones on every run. Some are hand-made, the others come from a
generator with a fixed seed."""

from __future__ import annotations

import random
from functools import cache

from tests.corpus import hand_made

SEED = 20_240_229
GENERATED_STRINGS = 5600
GENERATED_VALUES = 4200
GENERATED_JSON = 300
_LENGTHS = (0, 1, 1, 2, 3, 5, 8, 13, 20, 34, 49, 50, 51, 80, 81, 99, 100, 101, 300)
_RANGES = (
    (0x20, 0x7E), (0x20, 0x7E), (0x20, 0x7E), (0x00, 0x1F), (0x7F, 0xFF), (0x100, 0x24F), (0x300, 0x36F),
    (0x590, 0x6FF), (0x2000, 0x206F), (0x3040, 0x9FFF), (0xD800, 0xDFFF), (0xE000, 0xF8FF), (0xFE00, 0xFFFF),
    (0x1F300, 0x1FAFF), (0xE0000, 0xE01EF), (0x10000, 0x10FFFF),
)  # fmt: skip


@cache
def strings() -> tuple[str, ...]:
    """Texts, no two alike."""
    chance = random.Random(SEED)
    made = dict.fromkeys(hand_made.STRINGS)
    least = len(made) + GENERATED_STRINGS
    while len(made) < least:
        made[_string(chance)] = None
    return tuple(made)


@cache
def values() -> tuple[object, ...]:
    """Values that somebody may pass as an argument or return as a result; some JSON cannot hold."""
    chance = random.Random(SEED + 1)
    made: dict[str, object] = {}
    while len(made) < GENERATED_VALUES:
        value = _value(chance, 0)
        made[str(flatten(value))] = value
    return (*hand_made.VALUES, *made.values())


@cache
def json_texts() -> tuple[str, ...]:
    """JSON, and what is nearly JSON: hand-made, and hand-made with a character too many or too few."""
    chance = random.Random(SEED + 2)
    made = dict.fromkeys(hand_made.JSON_TEXTS)
    short = [text for text in made if 0 < len(text) < 200]
    least = len(made) + GENERATED_JSON
    while len(made) < least:
        text = chance.choice(short)
        at, gone = chance.randrange(len(text)), chance.choice([0, 1])
        put = chance.choice(["", *'{}[]",:\\ue0-+.', "\x00", "é"])
        made[text[:at] + put + text[at + gone :]] = None
    return tuple(made)


def inputs() -> int:
    """How many there are in all."""
    return len(strings()) + len(values()) + len(json_texts())


def _string(chance: random.Random) -> str:
    length = chance.choice(_LENGTHS)
    if chance.random() < 0.2:
        words = [chance.choice(hand_made.STRINGS)[:20] for _ in range(3)]
        return "".join(words)[: max(length, 1)]
    # One text, one or two kinds of characters: mixtures of all of them look the same.
    ranges = [chance.choice(_RANGES) for _ in range(chance.choice([1, 1, 2]))]
    return "".join(chr(chance.randint(*chance.choice(ranges))) for _ in range(length))


def _value(chance: random.Random, depth: int) -> object:
    kind = chance.random()
    if depth < 5 and kind < 0.25:
        return [_value(chance, depth + 1) for _ in range(chance.randrange(5))]
    if depth < 5 and kind < 0.5:
        return {_string(chance)[:30]: _value(chance, depth + 1) for _ in range(chance.randrange(5))}
    return _scalar(chance, kind)


def flatten(value: object) -> object:
    """With whole numbers in hexadecimal: Python writes no very long ones otherwise."""
    if isinstance(value, list):
        return [flatten(item) for item in value]
    if isinstance(value, dict):
        return {key: flatten(item) for key, item in value.items()}
    return hex(value) if type(value) is int else value


def _scalar(chance: random.Random, kind: float) -> object:
    if kind < 0.7:
        return _string(chance)
    if kind < 0.8:
        return chance.choice([1, -1]) * chance.getrandbits(chance.choice([1, 8, 31, 32, 53, 63, 64, 70, 200, 1100]))
    if kind < 0.92:
        return chance.choice([1, -1]) * chance.random() * 10.0 ** chance.randint(-320, 300)
    if kind < 0.97:
        return chance.choice([None, True, False, 0, "", 0.0])
    return chance.choice(hand_made.NUMBERS)
