"""What the doctor asks of the database, one operation per SQL file. All of it only reads."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from howdah.db.catalog import SchemaVersion
from howdah.db.op import Operation, Statement

_SAMPLES = 3


@dataclass(frozen=True, slots=True)
class Server:
    number: int
    version: str
    in_recovery: bool
    read_only: bool


@dataclass(frozen=True, slots=True)
class Autovacuum:
    on: bool
    counts: bool
    tables_without: list[str]


@dataclass(frozen=True, slots=True)
class Durability:
    fsync: bool
    full_page_writes: bool
    synchronous_commit: str


@dataclass(frozen=True, slots=True)
class Roles:
    are_set_up: bool
    owner_is_superuser: bool
    open_to_all: list[str]
    unpinned: list[str]


@dataclass(frozen=True, slots=True)
class Snapshot:
    kind: str
    name: str
    detail: str
    held: timedelta | None
    transactions: int


@dataclass(frozen=True, slots=True)
class IdleTransaction:
    pid: int
    detail: str
    idle: timedelta


@dataclass(frozen=True, slots=True)
class TableRows:
    table: str
    live: int
    dead: int
    since_vacuum: timedelta | None


@dataclass(frozen=True, slots=True)
class TransactionAge:
    database: str
    age: int
    freeze_at: int


@dataclass(frozen=True, slots=True)
class Partitions:
    covers_now: bool
    covers_next: bool
    next_at: datetime
    end: datetime | None


@dataclass(frozen=True, slots=True)
class WorkerRow:
    id: str
    silent: timedelta
    allowed: timedelta
    alive: bool
    undeclared: bool


@dataclass(frozen=True, slots=True)
class WaitingLane:
    queue: str
    job_type: str
    jobs: int
    type_is_known: bool
    is_served: bool


@dataclass(frozen=True, slots=True)
class Pause:
    kind: str
    name: str
    age: timedelta
    waiting: int


@dataclass(frozen=True, slots=True)
class PlainClaim:
    worker_id: str
    jobs: int
    age: timedelta
    rescued_in: timedelta


@dataclass(frozen=True, slots=True)
class Unrescued:
    worker_id: str
    jobs: int
    age: timedelta


@dataclass(frozen=True, slots=True)
class Sample:
    """One of `total` jobs found."""

    id: UUID
    job_type: str
    total: int


def read_version() -> Operation[SchemaVersion | None]:
    """The schema's version; None where Howdah's tables are not there."""
    rows = yield Statement("schema/find_version_table")
    if rows[0][0] is None:
        return None
    rows = yield Statement("schema/read_version")
    return SchemaVersion(*rows[0]) if rows[0][0] is not None else None


def read_server() -> Operation[Server]:
    """Which server, and whether it takes writes."""
    return Server(*(yield Statement("doctor/read_server"))[0])


def read_autovacuum() -> Operation[Autovacuum]:
    """Whether autovacuum is on, and where not."""
    return Autovacuum(*(yield Statement("doctor/read_autovacuum"))[0])


def read_durability() -> Operation[Durability]:
    """What a crash may cost."""
    return Durability(*(yield Statement("doctor/read_durability"))[0])


def read_notify() -> Operation[tuple[bool, float]]:
    """Whether enqueues ring, and how full the queue of notifications is."""
    rows = yield Statement("doctor/read_notify")
    return bool(rows[0][0]), float(rows[0][1])


def read_roles(producer: str) -> Operation[Roles]:
    """Whether roles were set up, and whether their rights are as they should be; the producer's name tells."""
    return Roles(*(yield Statement("doctor/read_roles", {"producer": producer}))[0])


def list_snapshots() -> Operation[list[Snapshot]]:
    """Who holds back vacuum, longest first."""
    return [Snapshot(*row) for row in (yield Statement("doctor/list_snapshots"))]


def count_hidden_sessions() -> Operation[int]:
    """Sessions that this role may not look into."""
    rows = yield Statement("doctor/count_hidden_sessions")
    return int(rows[0][0])


def list_idle_transactions(longer_than: timedelta) -> Operation[list[IdleTransaction]]:
    """Sessions idle in a transaction for longer than that, longest first."""
    rows = yield Statement("doctor/list_idle_transactions", {"longer_than": longer_than})
    return [IdleTransaction(*row) for row in rows]


def read_dead_rows() -> Operation[list[TableRows]]:
    """Live and dead rows of the tables that change most."""
    return [TableRows(*row) for row in (yield Statement("doctor/read_dead_rows"))]


def read_transaction_age() -> Operation[TransactionAge]:
    """The database nearest to running out of transaction ids."""
    return TransactionAge(*(yield Statement("doctor/read_transaction_age"))[0])


def read_partitions() -> Operation[Partitions]:
    """Whether jobs made now and next have a partition."""
    return Partitions(*(yield Statement("doctor/read_partitions"))[0])


def count_default_rows(most: int) -> Operation[int]:
    """Jobs that no dated partition covers, up to a limit."""
    rows = yield Statement("doctor/count_default_rows", {"most": most})
    return int(rows[0][0])


def list_workers() -> Operation[list[WorkerRow]]:
    """Every worker with a row, longest silent first."""
    return [WorkerRow(*row) for row in (yield Statement("doctor/list_workers"))]


def has_waiting() -> Operation[bool]:
    """Whether anything could be claimed now."""
    rows = yield Statement("doctor/has_waiting")
    return bool(rows[0][0])


def list_waiting_lanes(most: int) -> Operation[list[WaitingLane]]:
    """What waits, not paused, and whether a live worker serves it; counts up to a limit."""
    return [WaitingLane(*row) for row in (yield Statement("doctor/list_waiting_lanes", {"most": most}))]


def list_pauses(most: int) -> Operation[list[Pause]]:
    """What is paused, and how much waits for it, up to a limit."""
    return [Pause(*row) for row in (yield Statement("doctor/list_pauses", {"most": most}))]


def list_plain_claims(rescue_delay: timedelta) -> Operation[list[PlainClaim]]:
    """Who holds jobs without heartbeats, longest first."""
    rows = yield Statement("doctor/list_plain_claims", {"rescue_delay": rescue_delay})
    return [PlainClaim(*row) for row in rows]


def list_unrescued(rescue_delay: timedelta) -> Operation[list[Unrescued]]:
    """Who holds jobs that the rescue should have taken, longest first."""
    rows = yield Statement("doctor/list_unrescued", {"rescue_delay": rescue_delay})
    return [Unrescued(*row) for row in rows]


def list_unlisted(newest: int, rescue_delay: timedelta) -> Operation[list[Sample]]:
    """Held jobs that no claim lists."""
    parameters = {"newest": newest, "rescue_delay": rescue_delay, "most": _SAMPLES}
    return [Sample(*row) for row in (yield Statement("doctor/list_unlisted", parameters))]


def list_used_up(newest: int) -> Operation[list[Sample]]:
    """Pending jobs without attempts left."""
    rows = yield Statement("doctor/list_used_up", {"newest": newest, "most": _SAMPLES})
    return [Sample(*row) for row in rows]


def list_lost(newest: int) -> Operation[list[Sample]]:
    """Pending jobs that no claim can find."""
    rows = yield Statement("doctor/list_lost", {"newest": newest, "most": _SAMPLES})
    return [Sample(*row) for row in rows]


def count_overdue(overdue: timedelta, most: int) -> Operation[tuple[int, timedelta | None]]:
    """How many, up to a limit, and how late the latest is."""
    rows = yield Statement("doctor/count_overdue", {"overdue": overdue, "most": most})
    return int(rows[0][0]), rows[0][1]
