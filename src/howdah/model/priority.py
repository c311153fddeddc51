"""Names for the usual priorities. HIGHER RUNS FIRST."""

from __future__ import annotations

from enum import IntEnum

LOWEST_PRIORITY = -(2**31)
HIGHEST_PRIORITY = 2**31 - 1


class Priority(IntEnum):
    """Higher runs first. Any other int32 works as well."""

    EXPLICIT = 150
    """A user asked for it and waits."""
    DISCOVERED = 100
    """The system found it needs doing; the default."""
    BACKFILL = 30
    """Nobody waits for it."""
