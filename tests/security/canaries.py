"""Secrets to send through the system, and where they were seen again."""

from __future__ import annotations

import secrets


class Canaries:
    """Distinct secrets by the name of what carries them.

    They are short, and known by their first half: PostgreSQL cuts what it quotes.
    """

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, carrier: str) -> str:
        canary = "cnry" + secrets.token_hex(8)
        self._known[canary[:12]] = carrier
        return canary

    def seen_in(self, text: str, *but: str) -> list[str]:
        """Carriers whose secret stands in the text, other than those named."""
        return sorted({carrier for start, carrier in self._known.items() if start in text} - set(but))
