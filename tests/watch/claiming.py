"""A worker in plain SQL: what it does is done when the statement returns."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import psycopg


def claim(sql: psycopg.Connection[Any], job_type: str) -> tuple[UUID, int]:
    """The next job of that type, and its lease."""
    row = sql.execute("SELECT id, lease FROM claim_job_batch('w', ARRAY[%s], 1)", (job_type,)).fetchone()
    assert row is not None
    return row[0], row[1]
