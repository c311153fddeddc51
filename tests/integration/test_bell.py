"""Where the bell is trusted: where every new job rings it and every ring comes through, and nowhere else."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg
import pytest

from howdah import Howdah
from tests.conftest import Database
from tests.rig.sleeping import watch_sleep
from tests.rig.waiting import until_async
from tests.rig.working import working

POLL = timedelta(hours=1)


@pytest.mark.parametrize("notify", [True, False])
async def test_a_worker_polls_a_quarter_as_often_only_where_the_bell_is_heard(
    app: Howdah,
    database: Database,
    sql: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
    notify: bool,
) -> None:
    @app.job()
    async def work() -> None: ...

    sql.execute("UPDATE settings SET notify = %s", (notify,))
    wakeup = watch_sleep(monkeypatch)
    # Nothing to do and no chores: only the listener rings, and by then it knows what to make of the bell.
    async with working(app, poll=POLL, maintenance=False):
        await until_async(lambda: wakeup.rings > 0 and bool(wakeup.rests), "the worker listens, and lies down")
        polls = wakeup.rests[0] / POLL.total_seconds()
    if notify and database.route != "pgbouncer":
        assert 4 * 0.7 <= polls <= 4
    else:
        assert 0.7 <= polls <= 1
