"""Where a bench takes place: a schema of its own, a folder for boards and logs, a connection that watches.

The schema: absent → made with the bench's mark → migrated → removed. One that is there with the mark is what a bench
that was killed, or told to keep it, left behind: it is removed first. One without the mark is somebody else's: refused.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from howdah.admin.store import pause, resume
from howdah.admin.views import PauseKind
from howdah.bench import store
from howdah.bench.board import Board
from howdah.bench.counters import Counters
from howdah.bench.jobs import QUEUE, app
from howdah.bench.settings import BenchSettings
from howdah.db.catalog import DEFAULT_SCHEMA, Catalog
from howdah.db.connecting import connect
from howdah.db.faults import explained
from howdah.db.migrator import migrate
from howdah.db.op import Operation, perform
from howdah.model.errors import OptionError

SCHEMA = "howdah_bench"
MARK = "made by howdah bench, which removes it"
T = TypeVar("T")


@dataclass
class Stage:
    """All that a scenario needs."""

    url: str
    catalog: Catalog
    folder: Path
    settings: BenchSettings
    say: Callable[[str], None]
    connection: Any
    _boards: int = field(default=0)

    def run(self, operation: Operation[T]) -> T:
        """Ask the database."""
        return perform(self.connection, self.catalog, operation)

    def board(self, jobs: int, stamps: int = 1) -> Board:
        """A new board."""
        self._boards += 1
        return Board.make(self.folder / f"board-{self._boards}", jobs, stamps)

    def counters(self, *, floor: bool = False) -> Counters:
        """What the server has counted so far."""
        return self.run(store.read_counters(self.catalog.schema, floor=floor))

    def close_gate(self) -> None:
        """No worker starts a job from now on."""
        self.run(pause(PauseKind.QUEUE, QUEUE))

    def open_gate(self) -> None:
        """Workers start."""
        self.run(resume(PauseKind.QUEUE, QUEUE))


@contextmanager
def staged(
    url: str, schema: str, settings: BenchSettings, say: Callable[[str], None], *, keep: bool = False
) -> Iterator[Stage]:
    """Everything made, and removed at the end, however it ends."""
    if schema == DEFAULT_SCHEMA:
        raise OptionError(f"--schema {schema} is where an application's jobs are; the bench makes a schema of its own")
    catalog = Catalog(schema)
    folder = Path(tempfile.mkdtemp(prefix="howdah-bench-"))
    try:
        with explained(), connect(url, "bench") as connection:
            stage = Stage(url, catalog, folder, settings, say, connection)
            _make_schema(stage)
            try:
                app.move_to(url, schema)
                yield stage
            finally:
                app.close()
                if not keep:
                    stage.run(store.drop_schema())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _make_schema(stage: Stage) -> None:
    schema = stage.catalog.schema
    there, comment = stage.run(store.find_schema(schema))
    if there and comment != MARK:
        raise OptionError(f"schema {schema!r} is there and was not made by a bench; name another with --schema")
    if not stage.run(store.lock_schema(schema)):
        raise OptionError(f"another bench is at work in schema {schema!r}; wait for it, or name another with --schema")
    stage.run(store.set_schema(schema, MARK))
    if there:
        stage.say(f"removing schema {schema}, left by an earlier bench")
        stage.run(store.drop_schema())
    stage.run(store.make_schema())
    migrate(stage.connection, stage.catalog)
    stage.run(store.make_floor())
