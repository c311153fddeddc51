"""Text from anywhere made fit for a PostgreSQL text column and for a terminal."""

from __future__ import annotations

import re

# A whole escape sequence goes, not its first byte only: "[31m" left in a message is noise.
_ESCAPE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x9b[0-?]*[ -/]*[@-~]"  # CSI as one C1 byte
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # OSC and its like: titles, links
    r"|\x1b[ -/]+[0-~]"  # character sets
    r"|\x1b[0-Z\\^-~]"  # two-character sequences
)
_CONTROL = re.compile(r"[\x01-\x08\x0b-\x1f\x7f-\x9f]")
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


def clean_text(text: str, limit_bytes: int) -> str:
    """The text without what cannot be stored or shown, and cut in the middle where it is too long."""
    text = _CONTROL.sub("", _ESCAPE.sub("", text))
    text = _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)
    data = text.encode()
    if len(data) <= limit_bytes:
        return text
    mark = f"… [truncated, {len(data)} bytes in all]"
    room = limit_bytes - len(mark.encode())
    if room <= 0:
        # No room for the mark: the head alone says more than half a mark would.
        return data[: max(limit_bytes, 0)].decode(errors="ignore")
    # Both ends matter: the head says what was being done, the tail of a traceback says what went wrong.
    tail = room // 2
    head = room - tail
    return data[:head].decode(errors="ignore") + mark + data[len(data) - tail :].decode(errors="ignore")
