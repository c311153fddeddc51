"""Where fine ends: the numbers that the checks judge by."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Limits:
    """The defaults suit a busy production queue; where a number has no origin but experience, none is given."""

    check_time: timedelta = timedelta(seconds=2)
    """Each statement of a check ends within this time."""
    round_trip: timedelta = timedelta(milliseconds=50)
    bell_patience: timedelta = timedelta(seconds=2)
    bell_queue: float = 0.5
    """Share of the server's notification queue in use; when it is full, every enqueue fails."""
    snapshot_warn: timedelta = timedelta(minutes=5)
    snapshot_fail: timedelta = timedelta(hours=1)
    slot_warn: int = 1_000_000
    """Age in transactions of what a replication slot or a standby holds; no time is known for them."""
    slot_fail: int = 50_000_000
    idle_transaction: timedelta = timedelta(minutes=5)
    dead_rows: int = 100_000
    dead_share: float = 1.0
    """Dead rows per live one. Lines are mostly dead rows when they are empty, hence the two other conditions."""
    unvacuumed: timedelta = timedelta(minutes=5)
    """Autovacuum looks at each database once a minute by default: a busy line has many dead rows in between."""
    transaction_age_share: float = 1.5
    """Of autovacuum_freeze_max_age, at which the server starts to freeze by itself."""
    transaction_age: int = 1_600_000_000
    """PostgreSQL's vacuum_failsafe_age; writing stops at about 2.1 billion."""
    default_rows: int = 10_000
    rescue_delay: timedelta = timedelta(minutes=1)
    """How long after a worker's allowance the rescue may take; it comes every third of a worker's silence."""
    plain_claim: timedelta = timedelta(minutes=5)
    """The default timeout of recover_stale_jobs."""
    overdue: timedelta = timedelta(minutes=1)
    count: int = 1000
    """Counts stop here."""
    newest: int = 100_000
    """How many of the newest jobs are searched for lost ones."""
