"""100,000 jobs by enqueue_many, drained by one worker process, on durable commits.

Beside it, in the same run on the same server, the barest SQL loop.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg

from howdah import Howdah
from howdah.db.catalog import Catalog
from howdah.db.migrator import migrate
from howdah.embedded.server import EmbeddedServer
from tests.rig.processes import ROOT

JOBS = 100_000
WORKER = """
import asyncio, os, signal
from howdah import Howdah, WorkerSettings
app = Howdah(os.environ["HOWDAH_URL"])
@app.job()
async def noop(n: int) -> None: ...
async def main():
    worker = app.worker(WorkerSettings(concurrency=100))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
    await worker.run()
try:
    import uvloop
    uvloop.run(main())
except ImportError:
    asyncio.run(main())
"""


def bare_loop(url: str) -> float:
    """The same claims and completions with nothing around them: one connection, batches of 500."""
    with psycopg.connect(url, autocommit=True) as sql:
        begin = time.perf_counter()
        done = 0
        while rows := sql.execute(
            "SELECT claim, id, lease FROM howdah.claim_jobs('bare', ARRAY['noop'], 500)", binary=True
        ).fetchall():
            rows.sort(key=lambda row: row[1].bytes)
            sql.execute(
                "SELECT howdah.complete_jobs(%s::uuid[], %s::bigint[], %s::text[], %s::float8[], %s::bigint[])",
                ([r[1] for r in rows], [r[2] for r in rows], [None] * len(rows), [0.0] * len(rows), [rows[0][0]]),
            )
            done += len(rows)
        assert done == JOBS
        return JOBS / (time.perf_counter() - begin)


def worker_drain(url: str) -> float:
    with psycopg.connect(url, autocommit=True) as sql:
        query = "SELECT count(*) FROM howdah.ready"
        process = subprocess.Popen([sys.executable, "-c", WORKER], cwd=ROOT, env={**os.environ, "HOWDAH_URL": url})
        try:
            while sql.execute(query).fetchone() == (JOBS,):
                time.sleep(0.002)
            begin = time.perf_counter()
            while sql.execute("SELECT count(*) FROM howdah.claims").fetchone() != (0,) or sql.execute(
                query
            ).fetchone() != (0,):
                time.sleep(0.02)
            rate = JOBS / (time.perf_counter() - begin)
        finally:
            process.terminate()
            process.wait(30)
        assert sql.execute("SELECT count(*), sum(attempts) FROM howdah.jobs WHERE status = 'completed'").fetchone() == (
            JOBS,
            JOBS,
        )
    return rate


def test_enqueue_and_drain() -> None:
    folder = Path(tempfile.mkdtemp(prefix="howdah-evidence-", dir="/var/tmp"))
    folder.chmod(0o755)
    server = EmbeddedServer(folder)
    url = server.acquire()
    try:
        with psycopg.connect(url, autocommit=True) as sql:
            migrate(sql, Catalog())
        app = Howdah(url)

        @app.job()
        async def noop(n: int) -> None: ...

        for round_ in range(3):
            figures = {}
            for name, drain in (("worker", worker_drain), ("bare SQL loop", bare_loop)):
                with psycopg.connect(url, autocommit=True) as sql:
                    sql.execute("TRUNCATE howdah.jobs")
                begin = time.perf_counter()
                noop.enqueue_many([{"n": n} for n in range(JOBS)])
                enqueued = JOBS / (time.perf_counter() - begin)
                figures[name] = drain(url)
            print(
                f"round {round_}: enqueue_many {enqueued:,.0f}/s; drain by one worker {figures['worker']:,.0f}/s;"
                f" bare SQL loop {figures['bare SQL loop']:,.0f}/s;"
                f" RATIO worker/bare {figures['worker'] / figures['bare SQL loop']:.2f}",
                flush=True,
            )
        app.close()
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
