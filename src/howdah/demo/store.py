"""What the demo asks of the database."""

from __future__ import annotations

from uuid import UUID

from howdah.db.op import Operation, Statement
from howdah.demo.standing import Standing


def watch_jobs() -> Operation[dict[UUID, Standing]]:
    """How every job stands."""
    rows = yield Statement("demo/watch_jobs")
    return {row[0]: Standing(*row) for row in rows}
