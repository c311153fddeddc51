"""Two hundred strings that break pages which do not escape: markup, attributes, scripts, templates, odd characters."""

from __future__ import annotations

#: Stands in every string that would be markup if it were not escaped; nothing else on a page has it.
MARK = "xQ9"

_TAGS = ("script", "img", "svg", "iframe", "style", "a", "form", "meta", "base", "link", "object", "input", "template")
_ATTRIBUTES = ("onerror", "onload", "onclick", "onfocus", "style", "href", "src", "formaction")
_OPENINGS = ("", '"', "'", '">', "'>", "-->", "</textarea>", "</title>", "</option>", "</pre>", "]]>", "`", "\\", '\\"')
_SCHEMES = ("javascript:", "JaVaScRiPt:", "data:text/html,", "vbscript:", "//", "\tjavascript:")
_CHARACTERS = (
    "\u202e",
    "\u2028",
    "\u2029",
    "\ufeff",
    "\u200b",
    "\u0300" * 8,
    "\x1b[31m",
    "\x7f",
    "\x01",
    "\U0001f418",
    "\uffff",
    "\U0001d54f",
    "ﷺ",
    "ß",
    "İ",
    "\r\n\r\n",
    "\t",
    "%00",
    "%3Cscript%3E",
    "&lt;script&gt;",
    "&amp;",
    "&#60;",
    "{{7*7}}",
    "{% raw %}",
    "${7*7}",
    "#{7*7}",
    "<%= 7*7 %>",
    "%s%n%d",
    "'; DROP TABLE jobs; --",
    "1 OR 1=1",
    "../../etc/passwd",
    "NaN",
    "null",
    "undefined",
    "true",
    "-1",
    "1e999",
    "0x1F",
    "\\u003cscript\\u003e",
    "=cmd|'/C calc'!A0",
    "event: x\ndata: y\n\n",
)


def hostile_strings() -> list[str]:
    """Two hundred, each different, each at most 50 characters, so that they fit every column."""
    found: list[str] = []
    for tag in _TAGS:
        for opening in _OPENINGS[:7]:
            found.append(f"{opening}<{tag} {MARK}>")
    for attribute in _ATTRIBUTES:
        for opening in _OPENINGS[1:6]:
            found.append(f"{opening} {attribute}={MARK} x={opening}")
    for opening in _OPENINGS[7:]:
        found.append(f"{opening}<b {MARK}>")
    for scheme in _SCHEMES:
        found.append(f"{scheme}alert({MARK})")
    for character in _CHARACTERS:
        found.append(f"{character}<{MARK}>"[:50])
    found += [f"<{MARK}{n}" for n in range(20)]
    unique = list(dict.fromkeys(found))
    assert all(len(text) <= 50 for text in unique)
    return unique[:200]
