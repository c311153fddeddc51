"""Three connections to one database and a fourth that only looks, on a server that is older than the longest silence of
a worker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import pytest

from tests.conftest import Database
from tests.model.statements import SILENCE_SECONDS, Sql, ask
from tests.rig.waiting import until

#: After a restart of the server a worker's silence counts from then (rescue_jobs).
_OLD_ENOUGH = f"SELECT pg_postmaster_start_time() < clock_timestamp() - interval '{SILENCE_SECONDS + 1} seconds'"


@pytest.fixture
def links(database: Database) -> Iterator[Sequence[Sql]]:
    with ExitStack() as stack:
        opened = [stack.enter_context(database.connect()) for _ in range(4)]
        until(lambda: bool(ask(opened[0], _OLD_ENOUGH)), "the server is old enough")
        yield opened
