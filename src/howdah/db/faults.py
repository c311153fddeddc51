"""Driver errors in the user's words: what could not be used, why, and the next step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors as pg

from howdah.model.errors import DatabaseUnavailable, HowdahError, SchemaMissing

#: Errors after which the same statement may succeed on another connection or a little later.
Transient = (psycopg.OperationalError, psycopg.InterfaceError)


def is_data_error(error: BaseException) -> bool:
    """Whether the values were refused, by the server or on the way to it, so that another try cannot succeed."""
    refused = psycopg.DataError | psycopg.IntegrityError | pg.ProgramLimitExceeded
    return isinstance(error, refused | UnicodeError | ValueError | TypeError)


def is_busy(error: BaseException) -> bool:
    """Whether somebody else holds a row, or held it in a circle with us: another try may succeed at once."""
    return isinstance(error, pg.LockNotAvailable | pg.DeadlockDetected)


def is_forbidden(error: BaseException) -> bool:
    """Whether this role lacks a right."""
    return isinstance(error, pg.InsufficientPrivilege)


def is_transient(error: BaseException) -> bool:
    """Whether the connection or the server failed, rather than the statement."""
    return isinstance(error, Transient) and not is_data_error(error)


def without_row(error: psycopg.Error) -> psycopg.Error:
    """The same error, saying only what the server says first. Its DETAIL quotes the row that was refused, and who logs
    an error does not mean to log a payload; `error.diag` still has it."""
    if error.diag.message_primary is not None:
        error.args = (error.diag.message_primary,)
    return error


def kind_of(error: BaseException) -> str:
    """What may be logged of an error whose text may quote a payload."""
    state = error.sqlstate if isinstance(error, psycopg.Error) else None
    return type(error).__name__ if state is None else f"{type(error).__name__} (SQLSTATE {state})"


def explain(error: BaseException) -> HowdahError | None:
    """The same fault as an error that tells what to do, or None if the fault is not the user's."""
    first = " ".join(str(error).split("\n")[0].split()) or type(error).__name__
    if isinstance(error, pg.UndefinedTable | pg.InvalidSchemaName | pg.UndefinedFunction):
        return SchemaMissing(f"Howdah's tables are not in this database ({first}); run `howdah migrate`")
    if isinstance(error, pg.InsufficientPrivilege):
        return DatabaseUnavailable(f"no rights: {first}; grant them to this role or use another")
    if isinstance(error, pg.ReadOnlySqlTransaction):
        return DatabaseUnavailable(f"the server is read-only, perhaps a standby ({first}); use the primary's URL")
    if is_transient(error):
        return DatabaseUnavailable(f"cannot use the database: {first}; check that it runs and that the URL is right")
    return None


@contextmanager
def explained() -> Iterator[None]:
    """Raise faults of the driver as errors that tell what to do."""
    try:
        yield
    except psycopg.Error as error:
        told = explain(error)
        if told is None:
            raise
        raise told from error
