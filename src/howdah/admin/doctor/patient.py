"""Whom the doctor examines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from howdah.admin.doctor.limits import Limits
from howdah.db.bounded import BoundedSession
from howdah.db.op import Operation

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Patient:
    """A database, where its URL came from, and the limits to judge it by."""

    session: BoundedSession
    url_source: str
    limits: Limits = field(default_factory=Limits)

    def ask(self, operation: Operation[T]) -> T:
        """The answer to one operation of the store."""
        return self.session.run(operation)
