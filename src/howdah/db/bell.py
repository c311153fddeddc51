"""Whether a notification sent through this URL is heard through it: not so behind a pooler in transaction mode."""

from __future__ import annotations

import secrets
from datetime import timedelta

from howdah.db.bounded import BoundedSession, driver_told
from howdah.db.op import Operation, Statement, perform


def bell_is_heard(session: BoundedSession, patience: timedelta) -> bool:
    """Listen on a connection of its own and ring in the session. The channel is the doctor's, so no worker wakes."""
    token = secrets.token_hex(8)
    with driver_told(), session.open_another() as listening:
        perform(listening, session.catalog, _listen())
        session.run(_ring(token))
        # Another doctor may ring at the same time: only our own token counts.
        return any(notice.payload == token for notice in listening.notifies(timeout=patience.total_seconds()))


def _listen() -> Operation[None]:
    yield Statement("doctor/listen")


def _ring(token: str) -> Operation[None]:
    yield Statement("doctor/ring", {"token": token})
