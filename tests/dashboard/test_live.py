"""Live updates, an outage that ends by itself, and mounting in other applications."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from howdah import Howdah, JobContext, WorkerSettings
from howdah.web.application import Dashboard
from howdah.web.settings import read_settings
from tests.dashboard.asgi import Caller, call, streaming
from tests.dashboard.visiting import by_header
from tests.rig.waiting import until_async
from tests.rig.working import working

Sql = psycopg.Connection[Any]
OLGA, VIC = {"x-user": "olga"}, {"x-user": "vic"}


async def test_a_bar_moves_from_nothing_to_all_and_events_come_along(app: Howdah, caller: Caller) -> None:
    go_on = asyncio.Event()

    @app.job
    async def encode(ctx: JobContext) -> None:
        ctx.progress(40, stage="half <b>way</b>")
        ctx.event("said", {"password": "x"})
        await go_on.wait()

    job = await encode.aenqueue()
    async with streaming(caller.app, f"/live?jobs={job.id}&after=0", OLGA) as following:
        assert await following() == ("hello", "{}")
        # Read before a worker comes: afterwards it may be running already.
        event, data = await following()
        row = json.loads(data)
        assert (event, row["status"], row["progress"]) == ("job", "pending", 0)
        seen: list[tuple[str, int]] = []
        stages, events = set(), []
        async with working(app, silence=WorkerSettings().silence):
            while not seen or seen[-1] != ("completed", 100):
                event, data = await following()
                row = json.loads(data)
                if event == "job":
                    seen.append((row["status"], row["progress"]))
                    stages.add(row["stage"])
                    if row["progress"] == 40:
                        go_on.set()
                elif event == "events":
                    events += row["events"]
    assert ("running", 40) in seen
    assert "half <b>way</b>" in stages, "as data, which the page puts in as text"
    assert [(event["seq"], event["name"], event["data"]) for event in events] == [(1, "said", '{"password": "x"}')]


async def test_a_stream_tells_payloads_to_nobody_else(app: Howdah, caller: Caller, sql: Sql) -> None:
    row = sql.execute(
        "INSERT INTO jobs (job_type, status, last_error, events_count) VALUES ('x', 'failed', 'secret', 1) RETURNING id"
    ).fetchone()
    assert row is not None
    sql.execute(
        "INSERT INTO job_events (job_id, seq, attempt, name, data) VALUES (%s, 1, 1, 'e', '{\"a\": \"secret\"}')", row
    )
    for headers, sees in ((OLGA, True), (VIC, False)):
        said = ""
        async with streaming(caller.app, f"/live?jobs={row[0]}&after=0", headers) as following:
            while '"seq": 1' not in said:
                said += (await following())[1]
        assert ("secret" in said) is sees
    assert (await call(caller.app, "GET", "/live?panels=failures", VIC)).status == 403


async def test_panels_are_drawn_once_for_all_viewers(caller: Caller, sql: Sql) -> None:
    async with (
        streaming(caller.app, "/live?panels=tiles,queues", OLGA) as one,
        streaming(caller.app, "/live?panels=tiles,queues", VIC) as other,
    ):
        for following in (one, other):
            assert (await following())[0] == "hello"
            names = {json.loads((await following())[1])["name"] for _ in range(2)}
            assert names == {"tiles", "queues"}
        sql.execute("INSERT INTO jobs (job_type, queue) VALUES ('encode', 'fresh')")
        for following in (one, other):
            html = ""
            while "fresh" not in html:
                html = json.loads((await following())[1])["html"]
        assert len(caller.app.live._feeds) == 2
    assert caller.app.live.streams == 0


@pytest.mark.parametrize(
    "query",
    [
        "panels=nothing",
        "jobs=x",
        "jobs=" + ",".join([str(UUID(int=7))] * 201),
        "after=x&jobs=" + str(UUID(int=7)),
        "operation=x",
    ],
)
async def test_a_bad_stream_is_refused(caller: Caller, query: str) -> None:
    assert (await caller.get(f"/live?{query}")).status == 400


async def test_a_full_house_is_told(caller: Caller) -> None:
    caller.app.live.streams = 200
    assert (await caller.get("/live?panels=tiles")).status == 429
    caller.app.live.streams = 0


async def test_a_lost_database_shows_a_banner_and_comes_back(server: Any, database: Any) -> None:
    app = Howdah(database.url)
    dashboard = Dashboard(app, read_settings(by_header, False, (), "Howdah"))
    caller = Caller(dashboard)
    assert (await caller.get("/jobs")).status == 200

    def admit(allowed: bool) -> None:
        with server.admin() as connection:
            connection.execute(f"ALTER DATABASE {database.name} ALLOW_CONNECTIONS {allowed}".encode())
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (database.name,)
            )

    async with streaming(dashboard, "/live?panels=tiles", OLGA) as following:
        for wanted in ("hello", "panel"):
            assert (await following())[0] == wanted
        admit(False)
        while (event := await following()) != ("database", '{"lost": true}'):
            assert event[0] == "panel"
        for path in ("/", "/jobs", f"/jobs/{uuid4()}", "/queues", "/audit", "/bulk", "/workers"):
            answer = await caller.get(path)
            assert answer.status == 503, path
            assert "The database cannot be reached" in answer.text
            assert 'http-equiv="refresh"' in answer.text, "it comes back without scripts too"
        assert (await caller.post("/queues/pause", {"kind": "queue", "name": "x"})).status == 503
        assert "howdah_queues_up 0" in (await caller.get("/metrics")).text
        viewer = await call(dashboard, "GET", "/jobs", VIC)
        assert database.name not in viewer.text, "a viewer is not told the names of things"
        admit(True)
        while (await following()) != ("database", '{"lost": false}'):
            pass

    async def is_back() -> bool:
        return (await caller.get("/jobs")).status == 200

    await until_async(is_back, "the pages are back")
    await dashboard.aclose()
    await app.aclose()


async def test_a_panel_that_takes_too_long_says_so_and_the_others_stand(app: Howdah, sql: Sql, database: Any) -> None:
    settings = replace(read_settings(by_header, False, (), "Howdah"), panel_time=timedelta(milliseconds=300))
    dashboard = Dashboard(app, settings)
    caller = Caller(dashboard)
    assert (await caller.get("/queues")).status == 200
    with psycopg.connect(database.direct_url) as holder:
        holder.execute("LOCK TABLE howdah.pauses IN ACCESS EXCLUSIVE MODE")
        dashboard.desk._kept.clear()
        answer = await caller.get("/")
    assert answer.status == 200
    assert "longer than 0.3 s" in answer.text
    assert 'id="tile-running"' in answer.text
    await dashboard.aclose()
