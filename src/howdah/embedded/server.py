"""A PostgreSQL server that its users share: the first to come starts it, the last to leave stops it.

Correctness rests on locks that the kernel releases (locks.py), on a keeper process (keeper.py), and on
connecting rather than on process ids. A forked child shares its parent's place: the server stays while
either of them lives. The folder must be on a local file system.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from howdah.embedded import keeper
from howdah.embedded.binaries import Binaries, find_binaries
from howdah.embedded.cluster import SUPERUSER
from howdah.embedded.layout import Layout, make_folder, read_layout, settle, start_lock
from howdah.embedded.locks import EXCLUSIVE, SHARED, holding, is_held, is_the_file, open_lock, take
from howdah.embedded.startup import (
    PATIENCE,
    bring_up,
    cluster_name,
    ensure_keeper,
    is_running,
)
from howdah.model.errors import EmbeddedError

LAPTOP = {
    "listen_addresses": "",
    "shared_buffers": "64MB",
    "max_connections": "100",
    "log_line_prefix": "%m [%p] ",
}
FORGETFUL = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@dataclass(frozen=True)
class ServerSettings:
    """Settings of a server to be started; one that runs already keeps its own.

    `durable=False` loses data if the machine stops; for tests only.
    """

    postgres: Mapping[str, str] = field(default_factory=dict)
    durable: bool = True

    def as_postgres(self) -> dict[str, str]:
        return {**LAPTOP, **({} if self.durable else FORGETFUL), **self.postgres}


DURABLE = ServerSettings()


@dataclass(frozen=True)
class Status:
    running: bool
    folder: str
    data: str
    log: str
    url: str
    pid: int | None
    stays: bool
    has_keeper: bool


class EmbeddedServer:
    """The server of one folder, as seen by this process."""

    def __init__(self, folder: Path, *, binaries: Binaries | None = None, settings: ServerSettings = DURABLE) -> None:
        self._folder = Path(os.path.abspath(folder))
        self._binaries = binaries
        self._settings = settings
        self._mutex = threading.Lock()
        self._user_lock: int | None = None

    def acquire(self) -> str:
        """Become a user and return the URL of database "howdah"; starts the server if it does not run."""
        with self._mutex:
            self._become_user()
            return self.url()

    def release(self) -> None:
        """Leave; the keeper stops the server if nobody else uses it and it was not told to stay."""
        with self._mutex:
            self._leave()

    def restart_if_dead(self) -> bool:
        """For a user whose connection broke: start the server again if it is down; True if it was."""
        with self._mutex:
            if self._user_lock is None:
                raise EmbeddedError("only a user of the server may restart it; call acquire() first")
            if is_running(read_layout(self._folder)):
                return False
            self._become_user()
            return True

    def start(self, *, stay: bool) -> str:
        """Start it; with `stay` it outlives its users, without it this process becomes a user."""
        with self._mutex:
            was_user = self._user_lock is not None
            self._become_user(stay=stay)
            if stay and not was_user:
                self._leave()
            return self.url()

    def stop(self) -> bool:
        """Stop it now, whoever uses it; True if it was running."""
        if not self._folder.is_dir():
            return False
        with self._mutex, speaking_plainly(), self._starting():
            layout = read_layout(self._folder)
            layout.stay_mark.unlink(missing_ok=True)
            was_running = is_held(layout.server_lock)
            lock = open_lock(layout.server_lock)
            try:
                if not keeper.stop_server(lock, cluster_name(layout)):
                    raise EmbeddedError(f"PostgreSQL does not stop; see {layout.log}")
            finally:
                os.close(lock)
            self._leave()
            return was_running

    def status(self) -> Status:
        with speaking_plainly():
            layout = read_layout(self._folder)
            running = is_running(layout)
            return Status(
                running=running,
                folder=str(layout.folder),
                data=str(layout.data),
                log=str(layout.log),
                url=self.url(),
                pid=keeper.pid_in_file(str(layout.data)) if running else None,
                stays=layout.stay_mark.exists(),
                has_keeper=is_held(layout.keeper_lock),
            )

    def url(self, dbname: str = "howdah") -> str:
        """The address, whether or not the server runs; it does not change from one start to the next."""
        host = quote(os.fsencode(read_layout(self._folder).socket_dir), safe="")
        return f"postgresql://{SUPERUSER}@/{quote(dbname, safe='')}?host={host}&port=5432"

    def _become_user(self, *, stay: bool | None = None) -> None:
        if self._user_lock is not None and stay is None and is_running(read_layout(self._folder)):
            return
        with speaking_plainly():
            make_folder(self._folder)
            with self._starting():
                layout, account = settle(self._folder)
                self._forget_a_deleted_folder(layout)
                held = self._user_lock
                if held is None:
                    # Waits for a keeper that is just stopping the server.
                    held = take(layout.users_lock, SHARED, patience=PATIENCE, purpose="for the server to stop")
                try:
                    was_running = is_running(layout)
                    # The keeper comes first: if we are killed half-way, it clears up what we started.
                    ensure_keeper(layout)
                    if not was_running:
                        preferred = self._binaries or find_binaries()
                        bring_up(layout, account, preferred, self._settings.as_postgres())
                        # Again: the one we saw may have been killed, its lock about to be free.
                        ensure_keeper(layout)
                    if stay is not None:
                        set_mark(layout.stay_mark, stay)
                except BaseException:
                    if self._user_lock is None:
                        os.close(held)
                    raise
                if self._user_lock is None:
                    self._user_lock = held
                    atexit.register(self.release)

    def _forget_a_deleted_folder(self, layout: Layout) -> None:
        """A place held in a folder that was deleted counts for nothing in the one made anew."""
        if self._user_lock is not None and not is_the_file(self._user_lock, layout.users_lock):
            self._leave()

    def _leave(self) -> None:
        if self._user_lock is None:
            return
        with contextlib.suppress(OSError, EmbeddedError):
            layout = read_layout(self._folder)
            if is_held(layout.server_lock):
                # Should the keeper have been killed, somebody has to stop the server after us.
                ensure_keeper(layout)
        # Closed, not unlocked: a forked child may still hold it.
        os.close(self._user_lock)
        self._user_lock = None
        atexit.unregister(self.release)

    def _starting(self) -> contextlib.AbstractContextManager[int]:
        return holding(
            start_lock(self._folder),
            EXCLUSIVE,
            patience=PATIENCE,
            purpose="for another process to start the server",
        )


def set_mark(path: Path, wanted: bool) -> None:
    if wanted:
        path.touch()
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def speaking_plainly() -> Iterator[None]:
    """Turn what the system says (disk full, no permission, read-only) into one line."""
    try:
        yield
    except subprocess.TimeoutExpired as error:
        raise EmbeddedError(f"{error.cmd[0]} did not finish within {error.timeout:.0f} s") from error
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        raise EmbeddedError(f"{error.strerror or error}{where}") from error
