"""Workers that exist only as rows: alive for half a minute after registering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg


def register(
    sql: psycopg.Connection[Any], worker_id: str, job_types: Sequence[str], queues: Sequence[str] = ("default",)
) -> None:
    sql.execute(
        "SELECT register_worker(%s, interval '5 minutes', %s, %s, '{}')", (worker_id, list(queues), list(job_types))
    )
