"""What the keys order: the question that comes first, the operation, and the answer in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from howdah.admin.actions import order
from howdah.admin.order_store import set_pause
from howdah.admin.orders import Change, Kind, local_who
from howdah.admin.views import JobLine, PauseKind
from howdah.db.op import Operation
from howdah.top.cells import visible


@dataclass(frozen=True, slots=True)
class Order:
    """Something to be confirmed; carried out, it says what became of it."""

    question: str
    consequence: str
    make: Callable[[], Operation[str]]


def cancelling(job: JobLine) -> Order:
    """Cancel one job."""
    return Order(
        f"Cancel {visible(job.job_type)} {_short(job)}?",
        "Its worker is told to stop it; it ends as cancelled and is not tried again.",
        partial(_change, Change(Kind.CANCEL), job),
    )


def retrying(job: JobLine) -> Order:
    """Run one ended job again."""
    return Order(
        f"Retry {visible(job.job_type)} {_short(job)}?",
        "It goes back into its queue and runs as soon as a worker is free.",
        partial(_change, Change(Kind.RETRY), job),
    )


def pausing(queue: str, paused: bool) -> Order:
    """Pause a queue, or resume it."""
    name = visible(queue)
    if paused:
        return Order(
            f"Resume queue {name}?", "Every worker may claim from it again.", partial(_set_pause, queue, False)
        )
    return Order(
        f"Pause queue {name}?",
        "No worker starts a job of it until it is resumed. Jobs that run already go on.",
        partial(_set_pause, queue, True),
    )


def _change(change: Change, job: JobLine) -> Operation[str]:
    answers = yield from order(change, [job.id], local_who())
    if not answers:
        return f"{_short(job)} is gone"
    what = "told to stop" if answers[0].answer == "requested" else answers[0].answer
    return f"{visible(job.job_type)} {_short(job)}: {what}{'' if answers[0].changed else ' already'}"


def _set_pause(queue: str, paused: bool) -> Operation[str]:
    changed = yield from set_pause(PauseKind.QUEUE, queue, paused, local_who())
    done = "paused" if paused else "resumed"
    return f"queue {visible(queue)}: {done if changed else f'was {done} already'}"


def _short(job: JobLine) -> str:
    """The end of its id: the beginning is its time, and the same for jobs of one moment."""
    return f"…{str(job.id)[-8:]}"
