"""The floor of a pick-up: `python -m howdah.bench.bare_worker SCHEMA` waits for a notification, claims with the barest
SQL and stamps the board. One connection listens and one claims, as in a worker; no event loop, no features."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from howdah.bench import store
from howdah.bench.board import Board
from howdah.bench.floor import BATCH, open_bare
from howdah.bench.jobs import BOARD_VARIABLE
from howdah.db.catalog import Catalog
from howdah.db.op import perform


def main(schema: str) -> None:
    """Until terminated."""
    board = Board(Path(os.environ[BOARD_VARIABLE]))
    url, catalog = os.environ["HOWDAH_URL"], Catalog(schema)
    with open_bare(url, catalog) as listening, open_bare(url, catalog) as claiming:
        perform(listening, catalog, store.floor_listen())
        board.stamp(0)
        for _ in listening.notifies():
            ids, data = perform(claiming, catalog, store.floor_claim(BATCH))
            for line in data:
                board.stamp(-json.loads(line)["n"] - 1)
            if ids:
                perform(claiming, catalog, store.floor_complete(ids))


if __name__ == "__main__":
    main(sys.argv[1])
