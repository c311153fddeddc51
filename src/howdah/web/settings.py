"""What the host application decides about its dashboard, checked when it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from howdah.model.errors import OptionError, shown
from howdah.web.access import Authenticate
from howdah.web.redaction import Redaction


@dataclass(frozen=True)
class Settings:
    """`auth` None: loopback only, with a link that works once."""

    auth: Authenticate | None = None
    read_only: bool = False
    redaction: Redaction = field(default_factory=lambda: Redaction(()))
    title: str = "Howdah"
    #: One panel's statement may take this long; then the panel says so instead.
    panel_time: timedelta = timedelta(seconds=2)
    change_time: timedelta = timedelta(seconds=10)
    connections: int = 4


def read_settings(auth: Authenticate | None, read_only: bool, redact: Sequence[str], title: str) -> Settings:
    """The settings, or OptionError."""
    if auth is not None and not callable(auth):
        raise OptionError(f"auth takes a function (request) → User or None, not {shown(auth)}")
    if isinstance(redact, str) or not all(isinstance(path, str) and path.strip(". ") for path in redact):
        raise OptionError(f'redact takes a list of fields, such as ["password", "card.number"], not {shown(redact)}')
    return Settings(auth=auth, read_only=bool(read_only), redaction=Redaction(tuple(redact)), title=title)
