"""Where an error was raised, for logs: its text is left out, because it may quote a job's arguments."""

from __future__ import annotations

import traceback
from pathlib import PurePath

_FRAMES = 6


def kind_and_place(error: BaseException) -> dict[str, str]:
    """Fields of a log line: the error's kind, and the last lines of code on its way, the innermost first."""
    frames = traceback.extract_tb(error.__traceback__)[: -_FRAMES - 1 : -1]
    places = [f"{PurePath(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
    return {"error": type(error).__name__, "at": ", ".join(places)}
