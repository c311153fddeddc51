"""Bad inputs that somebody thought of, each for a reason."""
# ruff: noqa: RUF001 - characters that look like others are what this is about

from __future__ import annotations

import datetime as dt
import enum
import math
import uuid
from decimal import Decimal
from pathlib import PurePosixPath
from typing import NamedTuple

#: Text that PostgreSQL cannot hold, and text that only looks like it.
UNSTORABLE_LOOKING = [
    "\0", "a\0", "\0a", "a\0b", "\0" * 50, "\\0", "\\u0000", "\\\\u0000", "%00", "\u2400", "\ufffd", "\x01", "\x7f",
    "\x80",
    "\ud800", "\udfff", "\udc00\ud800", "a\ud83d", "\ude00b", "\ud83d\ude00", "\U0001f600", "\\ud800", "\udc80\udcff",
    "\ufeff", "\ufeffbom", "\ufffe", "\uffff", "\U0010ffff", "\ufdd0", "\xc0\x80", "\xed\xa0\x80", "\xff\xfe",
]  # fmt: skip
#: Nothing, nearly nothing, and what a program may take for nothing.
BLANKS = [
    "", " ", "  ", "\t", "\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\xa0", "\u2028", "\u2029", "\u200b",
    "\u2060",
    "\u3000", "null", "NULL", "None", "nil", "undefined", "NaN", "Infinity", "-Infinity", "true", "false", "0", "-0",
    "-1",
    "\\N", "\\.", "\\N\n", "\\.\n", "{}", "[]", '""', "''", "-", "--", "---", ".", "..", "/", "//", "~", "*", "?",
    "!",
]  # fmt: skip
#: What ends a string, a statement, a placeholder or a template somewhere.
META = [
    "'", "''", '"', '""', "`", ";", "--x", "/* x", "*/", "'; DROP TABLE howdah.jobs; --", "\" OR 1=1 --", "$1", "$$",
    "$x$", "E'\\x00'", "U&'\\0000'", "%s", "%(name)s", "%%", "%", "%d%n", "{}", "{0}", "{name}", "{0.__class__}",
    "{{x}}",
    "${HOME}", "$(id)", "`id`", "|id", "&& id", "<script>alert(1)</script>", "<img src=x onerror=y>", "&lt;", "&#0;",
    "]]>", "<!--", "javascript:x", "../../etc/passwd", "..\\..\\x", "C:\\CON", "\\\\host\\share", "file:///x", "a/b",
    "a\\b",
    "a:b", "a=b", "a,b", "(a)", "[a]", "{a}", "a b", "a\tb", "a\nb", "a\rb", "a\r\nb", "\\", "\\\\", "\\n", "\\t",
    "\\x41",
    "x\\", "'\\''", "=1+1", "@SUM(A1)", "+1", "^x", "#", "a#b", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x9b31m",
    "\x08x",
    "\x1b[2J", "\x1bc", "bell\x07", "howdah", "jobs", "public", "pg_catalog", "default", "pending", "claimed",
    "queue", "type",
]  # fmt: skip
#: Writing of every kind, and of no kind.
SCRIPTS = [
    "Grüße", "naïve", "Ångström", "A\u030angstro\u0308m", "\u0301", "e\u0301\u0301\u0301", "ﬁ", "ß", "ẞ", "İ", "ı",
    "ſ",
    "Ωmega", "привет", "שלום", "مرحبا", "\u202eabc", "\u202dabc\u202c", "\u2066x\u2069", "日本語", "한국어", "ไทย",
    "नमस्ते", "𝒳",
    "👍", "👍🏽", "👨‍👩‍👧‍👦", "🇩🇪", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "☃", "☃️", "\U000e0001", "\ue000", "\uf8ff", "\U000f0000",
    "Z̸͝ą̶l̷g̸o̵", "１２３", "٣", "²",
    "½", "Ⅷ", "\u00ad", "a\u00adb", "a\u200db", "a\u200cb", "\u180e", "\u115f", "\u3164", "\u2800", "￼", "𐍈", "ﷺ",
]  # fmt: skip
#: One character less than a limit, the limit, and one more, in characters of one to four bytes.
_LIMITS = (49, 50, 51, 79, 80, 81, 99, 100, 101)
LENGTHS = [letter * length for letter in ("x", "ü", "€", "😀", "'") for length in _LIMITS]
LONG = ["x" * 8000, "ü" * 8001, "😀" * 4096, " " * 10_000, "a\n" * 5000, "\x1b[31m" * 3000, "'" * 9999, "\\" * 9999]
STRINGS = [*UNSTORABLE_LOOKING, *BLANKS, *META, *SCRIPTS, *LENGTHS, *LONG]


class Colour(enum.Enum):
    """A value of an application's own."""

    RED = "red"


class Pair(NamedTuple):
    """A tuple that is more than a tuple."""

    left: int
    right: int


def nested(levels: int, item: object = None) -> object:
    """Lists in lists."""
    for _ in range(levels):
        item = [item]
    return item


def _endless() -> list[object]:
    value: list[object] = []
    value.append(value)
    return value


def _wide() -> list[object]:
    value: list[object] = []
    for _ in range(60):
        value = [value, value]
    return value


_POWERS = (7, 8, 15, 16, 31, 32, 53, 63, 64, 127)
NUMBERS: list[object] = [
    *(sign * 2**power + step for power in _POWERS for step in (-1, 0, 1) for sign in (1, -1)),
    10**18, 10**100, 10**308, 10**309, 10**4299, 10**4300, -(10**4299), 10**5000, 10**131_072,
    0.0, -0.0, 0.1, -0.1, 1.5, 1e15, 1e16, -1e16, 1e17, 1e22, 1e23, -1e23, 1.5e300, 1e308, -1e308,
    1.7976931348623157e308,
    5e-324, -5e-324, 2.2250738585072014e-308, 1e-7, 1e-300, 9007199254740993.0, 123456789012345680.0, 0.1 + 0.2,
    math.pi,
    math.nan, math.inf, -math.inf, True, False, None, Decimal("1.10"), Decimal("NaN"), Decimal("1E+400"), 1j,
]  # fmt: skip
CONTAINERS: list[object] = [
    [], {}, [[]], [{}], {"": ""}, {"": {}}, [None], [None] * 1000, {"a": {"a": {"a": 1}}}, {"it": 1}, {"n": 1},
    {"self": 1},
    {"__class__": "x"}, {"__proto__": {"x": 1}}, {"constructor": 1}, {"\0": 1}, {"\ud800": 1}, {"a": "\0"},
    ["\udfff"],
    {1: 2}, {1: 2, "1": 3}, {None: 1}, {True: 1}, {1.5: 1}, {(1, 2): 1}, {"a": math.nan}, [math.inf],
    {"k" * 10_000: 1},
    {str(n): n for n in range(1000)}, list(range(1000)), nested(10), nested(62), nested(63), nested(64), nested(65),
    nested(10_000), nested(100_000), _endless(), _wide(), {"deep": nested(61)}, {"deep": nested(63)},
    ["x" * 1000] * 200,
    ["x" * 1000] * 300, "x" * 262_000, "x" * 262_144, "x" * 300_000, "😀" * 65_500, "😀" * 65_600, "\n" * 131_000,
    "\x01" * 50_000, '"' * 131_000, "\\" * 131_000,
]  # fmt: skip
FOREIGN: list[object] = [
    b"", b"\xff\x00", bytearray(b"x"), {1, 2}, frozenset({"a"}), object(), object, len, lambda: 1, range(3), ...,
    Colour.RED,
    Pair(1, 2), uuid.UUID(int=0), dt.date.min, dt.date.max, dt.datetime.min, dt.datetime.max, dt.datetime.now(dt.UTC),
    dt.time.max, dt.timedelta.max, dt.timedelta.min, PurePosixPath("/x"), ValueError("x"), iter([]), (n for n in [1]),
    memoryview(b"x"), complex(1, 2), slice(1), type("Odd", (), {"__repr__": lambda self: 1 / 0})(), (1, 2), ((), ()),
]  # fmt: skip
VALUES: list[object] = [*NUMBERS, *CONTAINERS, *FOREIGN]

#: JSON as text, for those who write SQL themselves: some is none, some only PostgreSQL reads.
JSON_TEXTS = [
    "", " ", "{", "}", "[", "]", "{]", "[1,]", "[,1]", '{"a"}', '{"a":}', '{"a":1,}', "{'a':1}", "{a:1}", "nul",
    "NULL", "tru",
    "NaN", "Infinity", "-Infinity", "-", "+1", "01", "1.", ".5", "1e", "1e+", "0x10", "1_000", "１", '"', '"\\"',
    '"\\x41"',
    '"\\u12"', '"\\u0000"', '"\\\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', '"\\ud83d\\ude00"', '"\t"', '"\n"',
    "// x", "/**/1",
    "null", "true", "false", "0", "-0", "-0.0", "1", '"x"', "[]", "[1]", "{}", '{"it":1}', '{"n":1,"it":2,"x":3}',
    '{"it":1,"it":2}', '{"n":1,"n":2,"it":3,"it":4}', '{"":1}', '{"n":"1","it":1}', '{"n":1.0,"it":1}',
    '{"n":null,"it":1}',
    '{"n":1,"it":1e400}', '{"n":1,"it":1e-400}', '{"n":1,"it":-1e400}', '{"n":1,"it":1e131071}',
    '{"n":1,"it":1e131072}',
    '{"n":1,"it":' + "9" * 4300 + "}", '{"n":1,"it":' + "9" * 4301 + "}", '{"n":1,"it":' + "9" * 100_000 + "}",
    '{"n":' + "9" * 5000 + ',"it":1}', '{"n":1,"it":0.' + "3" * 16_000 + "}",
    '{"n":1,"it":' + "[" * 64 + "]" * 64 + "}",
    '{"n":1,"it":' + "[" * 500 + "]" * 500 + "}", '{"n":1,"it":' + "[" * 3000 + "]" * 3000 + "}",
    '{"n":1,"it":' + '{"a":' * 2000 + "1" + "}" * 2001, '{"n":1,"it":' + "[" * 100_000 + "]" * 100_000 + "}",
    "[" * 1_000_000, '{"n":1,"it":"' + "x" * 1_000_000 + '"}', "\ufeff{}", "{}\ufeff", "{}x", "{} {}",
    '{"n":1,"it":"\u2028"}',
    '{"n":1,"it":"\\u001b[31m"}', '{"n":1,"it":"\\b\\f\\/"}', '{"\\u0000":1}', '{"n":1,"it":{"\\ud800":1}}',
    '{"n":true,"it":1}',
]  # fmt: skip
