"""A producer: `python -m howdah.bench.producer SCHEMA KIND BATCH PAYLOAD`, told by its board when to stop.

KIND is howdah (enqueue_many, as an application calls it) or floor (a bare COPY). It keeps the backlog bounded: above
the limit it waits until the workers have caught up, which it sees on the board.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from howdah.bench.board import ENQUEUED, JOBS, RAN, STOP, Board
from howdah.bench.floor import copy, rendered
from howdah.bench.jobs import BOARD_VARIABLE, app, arguments, noop
from howdah.db.catalog import Catalog
from howdah.db.connecting import connect

#: Jobs that may wait at once.
BACKLOG = 20_000
_PAUSE = 0.001


def main(schema: str, kind: str, batch: int, payload: int) -> None:
    """Enqueue until told to stop."""
    board = Board(Path(os.environ[BOARD_VARIABLE]))
    url = os.environ["HOWDAH_URL"]
    if kind == "howdah":
        app.move_to(url, schema)
        _produce(board, batch, lambda first: _enqueue(first, batch, payload))
        app.close()
    else:
        catalog = Catalog(schema)
        with connect(url, "bench floor") as connection:
            connection.prepare_threshold = 0
            _produce(board, batch, lambda first: copy(connection, catalog, *rendered(first, batch, payload)))


def _enqueue(first: int, batch: int, payload: int) -> None:
    noop.enqueue_many([arguments(n, payload) for n in range(first, first + batch)])


def _produce(board: Board, batch: int, enqueue: Callable[[int], None]) -> None:
    header, room = board.header, board.header[JOBS]
    while not header[STOP] and header[ENQUEUED] + batch <= room:
        if header[ENQUEUED] - header[RAN] > BACKLOG - batch:
            time.sleep(_PAUSE)
            continue
        enqueue(header[ENQUEUED])
        header[ENQUEUED] += batch


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
