"""All that is known of a run, as plain values: what the checker judges. Times are seconds of the monotonic clock."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from torture import ledger

#: Faults that take the database from everybody.
OUTAGES = {"crash", "failover", "full_disk"}


@dataclass(frozen=True, slots=True)
class Offer:
    """A job that a producer offered. ok: the call returned. None: it raised, so the job is there or is not."""

    token: int
    kind: str
    priority: int
    at: float
    ok: bool | None


@dataclass(frozen=True, slots=True)
class Run:
    """One start of a handler, and how it ended: done, raised, lost, interrupted, or None: it did not live to say."""

    job: UUID
    token: int
    attempt: int
    worker: str
    began: float
    ended: float | None
    how: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """One row of torture.history."""

    number: int
    at: float
    job: UUID
    token: int | None
    kind: str
    priority: int
    was: str | None
    became: str
    lease: int
    worker: str | None
    attempt: int
    deaths: int
    visible: float
    backward: bool
    result: Any


def worker_of(change: Change) -> str:
    """The name of the worker that held the job."""
    # A worker's id is its name and a part of its own.
    return (change.worker or "").rsplit(":", 1)[0]


@dataclass(frozen=True, slots=True)
class Row:
    """A job as it stands at the end."""

    job: UUID
    token: int | None
    kind: str
    status: str
    attempts: int
    errors: int
    deaths: int
    progress: int
    lease: int


@dataclass(frozen=True, slots=True)
class Strike:
    """A fault that landed. worker: whom it hit; None: everybody."""

    fault: str
    began: float
    ended: float
    worker: str | None
    note: str = ""


@dataclass
class Evidence:
    """One run."""

    offers: dict[int, Offer] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)
    history: list[Change] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    strikes: list[Strike] = field(default_factory=list)
    #: Lines of the server's log that speak of a deadlock.
    deadlocks: list[str] = field(default_factory=list)
    #: The most connections that one worker was seen with, its name, and the same of the release before.
    most_connections: int = 0
    busiest: str = ""
    most_connections_of_older: int = 0
    stale_ends_refused: int = 0
    commit_replies_dropped: int = 0
    drained_seconds: float | None = None
    producers_finished: bool = True

    def changes(self) -> dict[UUID, list[Change]]:
        """The history of each job, in order."""
        found: dict[UUID, list[Change]] = defaultdict(list)
        for change in self.history:
            found[change.job].append(change)
        return found

    def runs_of(self) -> dict[UUID, list[Run]]:
        """The runs of each job, in order of their start."""
        found: dict[UUID, list[Run]] = defaultdict(list)
        for run in sorted(self.runs, key=lambda run: run.began):
            found[run.job].append(run)
        return found


def read_offers(folder: Path) -> dict[int, Offer]:
    """What the producers wrote."""
    offers: dict[int, Offer] = {}
    for _, (what, at, *words) in ledger.read_all(folder, "producer"):
        if what == "offer":
            tokens, kind, priority = words
            offers |= {token: Offer(token, kind, priority, at, None) for token in tokens}
        elif what == "ok":
            for token in words[0]:
                known = offers[token]
                offers[token] = Offer(token, known.kind, known.priority, known.at, True)
    return offers


def read_runs(folder: Path) -> list[Run]:
    """What the handlers wrote."""
    begun: dict[tuple[str, str, int], Run] = {}
    for worker, (what, at, job, token, attempt, *rest) in ledger.read_all(folder, "worker"):
        place = (worker, job, attempt)
        if what == "start":
            # The same attempt in the same worker twice would be a defect: it must not hide behind the other.
            while place in begun:
                place = (place[0], place[1], place[2] + 1_000_000)
            begun[place] = Run(UUID(job), token, attempt, worker, at, None, None)
        elif place in begun:
            run = begun[place]
            begun[place] = Run(run.job, run.token, run.attempt, run.worker, run.began, at, rest[0])
    return list(begun.values())


def read_database(connection: Any, offset: float) -> tuple[list[Change], list[Row]]:
    """History and final rows. offset: wall clock minus monotonic clock."""
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT number, extract(epoch FROM at)::float8, job, token, kind, priority, was, became, lease, worker,"
        " attempt, deaths, extract(epoch FROM visible)::float8, backward, result"
        " FROM torture.history ORDER BY number"
    ).fetchall()
    history = [Change(*_on_our_clock(row, offset)) for row in rows]
    ends = connection.execute(
        "SELECT id, (data ->> 'token')::bigint, job_type, status, attempts, errors, deaths, progress, lease"
        " FROM howdah.jobs"
    ).fetchall()
    return history, [Row(*row) for row in ends]


def write_down(evidence: Evidence, folder: Path) -> None:
    """For whoever looks into it when the server is gone: history, strikes and final rows, a line each."""
    for name in ("history", "strikes", "rows"):
        with (folder / f"{name}.jsonl").open("w") as file:
            for one in getattr(evidence, name):
                file.write(json.dumps(asdict(one), default=str) + "\n")


def _on_our_clock(row: tuple[Any, ...], offset: float) -> list[Any]:
    values = list(row)
    for place in (1, 12):
        values[place] -= offset
    return values
