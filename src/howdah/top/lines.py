"""What stands in the four tables: a snapshot as lines of cells, for tables of any width."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from rich.text import Text

from howdah.admin.history.views import Work
from howdah.admin.views import JobLine, WorkerLine
from howdah.model.status import Status
from howdah.top.cells import Paces, bar, fitted, last_words, memory, rate, shortened_name, since, visible
from howdah.top.reading import Snapshot

PADDING = 1


@dataclass(frozen=True, slots=True)
class Column:
    """`weight`: its share of the room that all least widths leave. Without one it holds figures, which stand right."""

    head: str
    least: int
    weight: int = 0

    @property
    def figures(self) -> bool:
        """Whether what it holds stands to the right."""
        return self.weight == 0


QUEUES = (
    Column("QUEUE", 12, 1),
    Column("WAITING", 8),
    Column("LATER", 7),
    Column("OLDEST", 6),
    Column("DONE", 8),
    Column("FAILED", 6),
    Column("STATE", 6),
)
WORKERS = (
    Column("WORKER", 16, 1),
    Column("BEAT", 6),
    Column("LOAD", 7),
    Column("MEMORY", 7),
    Column("RUNS", 20, 2),
)
RUNNING = (
    Column("TYPE", 12, 2),
    Column("PROGRESS", 16, 3),
    Column("STAGE", 9, 2),
    Column("ETA", 6),
    Column("RAN", 6),
    Column("TRY", 4),
)
FAILURES = (Column("ENDED", 7), Column("TYPE", 14, 1), Column("TRY", 4), Column("ERROR", 30, 4))


def widths(columns: Sequence[Column], room: int) -> list[int]:
    """The columns' widths in a table that is so wide."""
    left = max(0, room - sum(column.least + 2 * PADDING for column in columns))
    shares = sum(column.weight for column in columns)
    return [column.least + left * column.weight // shares for column in columns]


@dataclass(frozen=True, slots=True)
class Line:
    """One row: `key` says which it is from one look to the next, `words` what a filter searches."""

    key: str
    cells: tuple[Text, ...]
    words: str
    job: JobLine | None = None

    def has(self, searched: str) -> bool:
        """Whether it is one of those that were asked for."""
        return searched.casefold() in self.words.casefold()


def queue_lines(snapshot: Snapshot, room: Sequence[int]) -> Iterator[Line]:
    """A line for each queue: those that were ever used, and those that are paused."""
    work = {share.queue: share.work for share in snapshot.shares if share.queue is not None}
    names = {depth.queue for depth in snapshot.depths} | snapshot.paused_queues | set(work)
    for name in sorted(names):
        lanes = [depth for depth in snapshot.depths if depth.queue == name]
        waiting = sum(lane.ready for lane in lanes)
        oldest = max((lane.oldest_seconds for lane in lanes if lane.oldest_seconds is not None), default=None)
        done = work.get(name, Work())
        paused = name in snapshot.paused_queues
        part = any(lane.paused for lane in lanes) and not paused
        state = _state(paused, part)
        yield Line(
            name,
            (
                Text(fitted(visible(name), room[0]), "bold"),
                _number(waiting),
                _number(sum(lane.scheduled for lane in lanes)),
                _right(since(None if oldest is None else timedelta(seconds=oldest))),
                _right(rate(done.ended / snapshot.share_seconds)),
                _right(f"{done.failed:,}", "red" if done.failed else "dim"),
                state,
            ),
            f"{name} {state.plain}",
        )


def worker_lines(snapshot: Snapshot, room: Sequence[int]) -> Iterator[Line]:
    """A line for each worker; the silent ones in red."""
    now = snapshot.now
    for worker in snapshot.workers:
        beat = since(now - worker.heartbeat_at)
        runs = what_it_runs(worker, snapshot.running)
        yield Line(
            worker.id,
            (
                Text(shortened_name(visible(worker.id), room[0]), "" if worker.alive else "red"),
                _right(beat, "green" if worker.alive else "bold red"),
                _right(_load(worker)),
                _right(memory(worker.load.get("memory"))),
                Text(fitted(runs, room[4]), "" if worker.jobs else "dim"),
            ),
            f"{worker.id} {runs} {' '.join(worker.queues)} {'alive' if worker.alive else 'silent'}",
        )


def running_lines(snapshot: Snapshot, room: Sequence[int], paces: Paces) -> Iterator[Line]:
    """A line for each job that a worker holds, those that run first."""
    now = snapshot.now
    ran = {job.id: now - job.started_at if job.started_at is not None else None for job in snapshot.running}
    left = paces.look({job.id: (job.progress, ran[job.id]) for job in snapshot.running})
    for job in sorted(snapshot.running, key=lambda job: job.status is not Status.RUNNING):
        running = job.status is Status.RUNNING
        stage, style = _stage(job)
        yield Line(
            str(job.id),
            (
                Text(fitted(visible(job.job_type), room[0]), "bold" if running else "dim"),
                bar(job.progress, room[1], "cyan" if job.cancel_requested_at is None else "yellow"),
                Text(fitted(stage, room[2]), style),
                _right(since(left[job.id]) if running else "-"),
                _right(since(ran[job.id]) if running else "-"),
                _right(f"{job.attempts}/{job.max_attempts}"),
            ),
            f"{job.id} {job.job_type} {job.queue} {job.worker_id} {stage}",
            job,
        )


def failure_lines(snapshot: Snapshot, room: Sequence[int]) -> Iterator[Line]:
    """A line for each of the newest jobs that failed."""
    now = snapshot.now
    for job in snapshot.failures:
        words = last_words(job.error_end)
        yield Line(
            str(job.id),
            (
                _right(since(now - job.completed_at) if job.completed_at is not None else "-"),
                Text(fitted(visible(job.job_type), room[1]), "bold"),
                _right(f"{job.attempts}/{job.max_attempts}"),
                Text(fitted(words, room[3]), "red"),
            ),
            f"{job.id} {job.job_type} {job.queue} {job.error_end}",
            job,
        )


def what_it_runs(worker: WorkerLine, held: Sequence[JobLine]) -> str:
    """Its jobs by type, the most frequent first, as far as they were read."""
    mine = [job for job in held if job.worker_id == worker.id and job.status is Status.RUNNING]
    if not mine:
        return f"{worker.jobs:,} held" if worker.jobs else "idle" if worker.alive else "silent"
    found = Counter(visible(job.job_type) for job in mine).most_common()
    return ", ".join(name if count == 1 else f"{count} {name}" for name, count in found)


def _state(paused: bool, part: bool) -> Text:
    if paused:
        return _right("paused", "bold yellow")
    return _right("partly", "yellow") if part else _right("open", "green")


def _stage(job: JobLine) -> tuple[str, str]:
    if job.cancel_requested_at is not None:
        return "cancelling", "yellow"
    if job.status is not Status.RUNNING:
        return "claimed", "dim"
    return (visible(job.current_stage), "") if job.current_stage else ("-", "dim")


def _load(worker: WorkerLine) -> str:
    slots = worker.load.get("slots")
    return f"{worker.load.get('running', worker.jobs)}/{slots}" if isinstance(slots, int) else str(worker.jobs)


def _number(count: int) -> Text:
    return _right(f"{count:,}", "" if count else "dim")


def _right(text: str, style: str = "") -> Text:
    return Text(text, style, justify="right")
