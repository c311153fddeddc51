"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad it is. Only `fail` makes the command fail."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one check says; a next step wherever something is wrong."""

    level: Level
    message: str
    next_step: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict with the name of its check."""

    check: str
    level: Level
    message: str
    next_step: str | None


def ok(message: str) -> Verdict:
    """Nothing is wrong."""
    return Verdict(Level.OK, message)


def warn(message: str, next_step: str) -> Verdict:
    """Something hurts, or will."""
    return Verdict(Level.WARN, message, next_step)


def fail(message: str, next_step: str) -> Verdict:
    """Something is broken."""
    return Verdict(Level.FAIL, message, next_step)
