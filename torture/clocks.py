"""Workers whose wall clocks are off by hours, where libfaketime is installed. The monotonic clock stays right: no
machine has a wrong one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

#: Every second worker's is right.
_SKEWS = ("", "+3h", "", "-5h", "", "+26h")
_PLACES = ("/usr/lib", "/usr/local/lib")


@cache
def find_library() -> Path | None:
    """The library that pretends, if there is one."""
    for place in _PLACES:
        for found in sorted(Path(place).glob("**/faketime/libfaketimeMT.so.1")):
            return found
    return None


def wrong_clock(number: int) -> dict[str, str]:
    """What the environment of that worker must say; nothing: its clock is right."""
    library, skew = find_library(), _SKEWS[number % len(_SKEWS)]
    if library is None or not skew:
        return {}
    return {"LD_PRELOAD": str(library), "FAKETIME": skew, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
