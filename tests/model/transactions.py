"""Connections whose transactions stay open, and what is to be done once they commit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

from hypothesis.stateful import RuleBasedStateMachine
from psycopg.errors import LockNotAvailable, SerializationFailure

from tests.model.statements import Sql

T = TypeVar("T")
Effect = Callable[[], None]


class TransactionsMachine(RuleBasedStateMachine):
    """Statements in and out of transactions; what they did takes effect on the model when they commit."""

    links: ClassVar[Sequence[Sql]]
    steps: ClassVar[int] = 0
    #: Statements that refused, and steps taken while another connection's transaction was open.
    refusals: ClassVar[int] = 0
    overlaps: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self.taken = 0
        #: What the open transactions will have done, by connection.
        self.journals: dict[int, list[Effect]] = {}
        for sql in self.links:
            sql.rollback()

    def _act(self, connection: int, statement: Callable[[Sql], T]) -> T | None:
        """Every rule begins with this: it is what counts as a step. Every third begins a transaction, which stays open.
        None: the statement refused, and did nothing."""
        kind = type(self)
        kind.steps += 1
        kind.overlaps += any(other != connection for other in self.journals)
        self.taken += 1
        if connection not in self.journals and self.taken % 3 == 0:
            level = "REPEATABLE READ" if self.taken % 12 == 0 else "READ COMMITTED"
            self.links[connection].execute(f"BEGIN ISOLATION LEVEL {level}".encode())
            self.journals[connection] = []
        try:
            return statement(self.links[connection])
        except (LockNotAvailable, SerializationFailure):
            kind.refusals += 1
            if connection in self.journals:
                self._end(connection, "ROLLBACK")
            return None

    def _note(self, connection: int, effect: Effect) -> None:
        """What the statement did: now, or at the commit of its transaction."""
        if connection in self.journals:
            self.journals[connection].append(effect)
        else:
            effect()

    def _end(self, connection: int, word: str) -> None:
        self.links[connection].execute(word.encode())
        for effect in self.journals.pop(connection):
            if word == "COMMIT":
                effect()


def in_transaction(sql: Sql, statement: Callable[[Sql], T]) -> T:
    """All of it or nothing."""
    with sql.transaction():
        return statement(sql)
