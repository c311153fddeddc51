"""Locks that the kernel releases when their holder dies, however it dies.

Four files in the folder carry all shared state; none of them is ever deleted:

start.lock   exclusive: whoever is about to start, stop or lay out the server
users.lock   shared: every user, for as long as it uses the server; exclusive: the keeper while it stops it
server.lock  exclusive: inherited by every process of the server, so it is free exactly when all of them
             are gone; no process id has to be believed
keeper.lock  exclusive: the one keeper

Order of taking: start, users, keeper, server. The descriptors are never unlocked, only closed: unlocking
would also take the lock from processes that inherited it.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from howdah.model.errors import EmbeddedError

EXCLUSIVE = fcntl.LOCK_EX
SHARED = fcntl.LOCK_SH

# How often a wait looks again. Short, because the whole start takes about a tenth of a second.
LOOK_AGAIN = 0.01


def open_lock(path: Path) -> int:
    # Never through a symbolic link: as root, that could create a file wherever somebody else likes.
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)


def try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def take(path: Path, kind: int, *, patience: float, purpose: str) -> int:
    """A descriptor that holds the lock; EmbeddedError if it cannot be had in `patience` seconds."""
    descriptor = open_lock(path)
    try:
        deadline = time.monotonic() + patience
        while not try_lock(descriptor, kind):
            if time.monotonic() > deadline:
                raise EmbeddedError(f"waited {patience:.0f} s {purpose}; see who holds {path}")
            time.sleep(LOOK_AGAIN)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def take_at_once(path: Path, kind: int) -> int | None:
    """A descriptor that holds the lock, or None if it is taken."""
    descriptor = open_lock(path)
    if try_lock(descriptor, kind):
        return descriptor
    os.close(descriptor)
    return None


def is_the_file(descriptor: int, path: Path) -> bool:
    """Whether the path still leads to the file that was opened, and not to one made after it was deleted."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def is_held(path: Path) -> bool:
    """Whether somebody holds the lock exclusively. Asks with a shared lock, so that askers do not meet."""
    if not path.exists():
        return False
    descriptor = take_at_once(path, SHARED)
    if descriptor is None:
        return True
    os.close(descriptor)
    return False


@contextmanager
def holding(path: Path, kind: int, *, patience: float, purpose: str) -> Iterator[int]:
    descriptor = take(path, kind, patience=patience, purpose=purpose)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
