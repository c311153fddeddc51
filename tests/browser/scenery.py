"""What a queue in use looks like: jobs in every state, a history of an hour and of a day, a queue that is paused."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from howdah import Job
from howdah.admin.bulk import BulkOrder, begin, carry_out
from howdah.admin.filter_text import parse_filter
from howdah.admin.orders import Change
from howdah.telemetry.histogram import bucket_of
from tests.browser.hall import Hall
from tests.conftest import Database
from tests.rig.waiting import until

TRACEBACK = """Traceback (most recent call last):
  File "/app/shop/payments.py", line 88, in charge_card
    answer = gateway.charge(order.card, order.total)
  File "/app/shop/gateway.py", line 41, in charge
    raise GatewayTimeout(f"no answer within {limit:g} s")
shop.gateway.GatewayTimeout: no answer within 30 s"""
WORK = (
    ("encode", 24, "encoding 1080p"), ("encode", 67, "encoding 4k"), ("thumbnail", 90, "cutting"),
    ("encode", 8, "downloading"), ("thumbnail", 55, "frame 1,320 of 2,400"), ("encode", 96, "uploading"),
    ("import_catalog", 41, "row 41,000 of 100,000"),
)  # fmt: skip
STATS = """
INSERT INTO stats (per, at, queue, job_type, started, completed, failed, retried, ran, ran_seconds, waited,
    waited_seconds, waiting, oldest_seconds)
VALUES (%(per)s, date_trunc(%(per)s, %(at)s::timestamptz, 'UTC'), %(queue)s, %(type)s, %(done)s, %(done)s, %(failed)s,
    0, %(ran)s, %(done)s, %(waited)s, %(done)s, 3, 2) ON CONFLICT DO NOTHING
"""


class Scenery:
    """`pages` are addresses of the dashboard, one of each kind."""

    def __init__(self, hall: Hall, database: Database) -> None:
        self.hall = hall
        with database.connect() as self.sql:
            self._put_history()
            self.completed = self._put_ended()
            self.failed = self._put_failed()
            self.pending = self._put_waiting()
            self.running = [self._run(*work) for work in WORK]
            until(self._is_under_way, "all of them run")
            self.operation = self._put_operation()
        first = self.running[0].id
        self.pages = {
            "overview": "/",
            "overview of a day": "/?span=24h&queue=media",
            "jobs": "/jobs",
            "jobs of a filter": "/jobs?q=status%3Dfailed",
            "jobs of a bad filter": "/jobs?q=status%3Dnothing&priority=high",
            "a running job": f"/jobs/{first}",
            "a failed job": f"/jobs/{self.failed}",
            "a completed job": f"/jobs/{self.completed}",
            "a waiting job": f"/jobs/{self.pending}",
            "queues": "/queues",
            "workers": "/workers",
            "bulk": "/bulk",
            "an operation": f"/bulk/{self.operation}",
            "audit": "/audit",
            "nothing": "/nothing",
        }

    def _one(self, statement: str, *parameters: Any) -> Any:
        row = self.sql.execute(statement.encode(), parameters).fetchone()
        assert row is not None
        return row[0]

    def _put_ended(self) -> UUID:
        for queue, name, jobs in (("media", "thumbnail", 9), ("mail", "send_mail", 14), ("default", "reindex", 6)):
            self.sql.execute(
                "INSERT INTO jobs (job_type, queue, status, progress, attempts, data, created_at, claimed_at,"
                " started_at, completed_at, worker_id) SELECT %s, %s, 'completed', 100, 1, '{\"user\": {\"id\": 7}}',"
                " now() - n * interval '7 s', now() - n * interval '6 s', now() - n * interval '6 s',"
                " now() - n * interval '5 s', 'shop:1:aa' FROM generate_series(1, %s) AS n",
                (name, queue, jobs),
            )
        return UUID(str(self._one("SELECT id FROM jobs WHERE status = 'completed' LIMIT 1")))

    def _put_failed(self) -> UUID:
        """By plain statements, as a worker in another language would: claimed, given back twice, failed."""
        for order in range(1, 7):
            data = Jsonb({"order": 1000 + order, "card": {"brand": "visa"}})
            self.sql.execute(
                "INSERT INTO jobs (job_type, queue, data, priority) VALUES ('charge_card', 'payments', %s, 150)",
                (data,),
            )
        for attempt in (1, 2, 3):
            self.sql.execute("SELECT count(*) FROM claim_job_batch('payments-2:77:c4', ARRAY['charge_card'], 6)")
            self.sql.execute("UPDATE jobs SET status = 'running', started_at = now(), progress = 35,"
                             " current_stage = 'asking the gateway' WHERE job_type = 'charge_card'")  # fmt: skip
            ended = (
                "status = 'failed', completed_at = now()" if attempt == 3 else "status = 'pending', worker_id = NULL"
            )
            update = f"UPDATE jobs SET {ended}, last_error = %s, errors = errors + 1 WHERE job_type = 'charge_card'"
            self.sql.execute(update.encode(), (TRACEBACK,))
        return UUID(str(self._one("SELECT id FROM jobs WHERE job_type = 'charge_card' ORDER BY id LIMIT 1")))

    def _put_waiting(self) -> UUID:
        self.sql.execute("INSERT INTO jobs (job_type, queue, priority) SELECT 'embed', 'backfill', 30"
                         " FROM generate_series(1, 30)")  # fmt: skip
        self.sql.execute("INSERT INTO jobs (job_type, queue, run_at) SELECT 'send_mail', 'mail', now() + interval '1 h'"
                         " FROM generate_series(1, 4)")  # fmt: skip
        self.sql.execute("INSERT INTO pauses (kind, name) VALUES ('queue', 'backfill')")
        return UUID(str(self._one("SELECT id FROM jobs WHERE job_type = 'embed' LIMIT 1")))

    def _run(self, name: str, percent: int, stage: str) -> Job[Any]:
        job = self.hall.enqueue(name, video=42, preset="4k")
        self.hall.tell(job, "event", "source", {"seconds": 5400, "codec": "h264"})
        self.hall.tell(job, "progress", percent, stage)
        self.hall.tell(job, "event", "part-done", {"part": 1, "of": 4})
        return job

    def _is_under_way(self) -> bool:
        return [job.refresh().progress for job in self.running] == [percent for _, percent, _ in WORK]

    def _put_operation(self) -> UUID:
        wanted = parse_filter("type=send_mail status=pending")
        order = BulkOrder(Change.read("priority", "40"), wanted, "olga", 4)
        sessions = self.hall.app.sessions
        sessions.run(partial(begin, order))
        carry_out(sessions, order.id)
        return order.id

    def _put_history(self) -> None:
        now = datetime.now(UTC)
        periods = [
            _period(per, now - back * step, back, queue, name)
            for per, step, steps in (("minute", timedelta(minutes=1), 90), ("hour", timedelta(hours=1), 30))
            for back in range(steps)
            for queue, name in (("", ""), ("media", ""), ("media", "encode"))
        ]
        with self.sql.transaction(), self.sql.cursor() as cursor:
            cursor.executemany(STATS.encode(), periods)


def _period(per: str, at: datetime, back: int, queue: str, name: str) -> dict[str, Any]:
    busy = 1 + 0.5 * math.sin(back / 7) + 0.2 * math.sin(back / 1.7)
    done = round(900 * busy * (1 if per == "minute" else 60))
    failed = round(done * 0.02) if back % 9 in (3, 4) else 0
    return {
        "per": per, "at": at, "queue": queue, "type": name, "done": done, "failed": failed,
        "ran": _histogram(done, 0.9 * busy), "waited": _histogram(done, 0.02 * busy * busy),
    }  # fmt: skip


def _histogram(count: int, median: float) -> list[int]:
    places = {0.5: 0.25, 1.0: 0.4, 2.0: 0.25, 5.0: 0.08, 12.0: 0.02}
    counts = [0] * (bucket_of(median * 12) + 1)
    for factor, part in places.items():
        counts[bucket_of(median * factor)] += round(count * part)
    return counts
