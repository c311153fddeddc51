"""What held jobs have said since they were last asked, ready to be written."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from howdah.model.context import Report
from howdah.worker.held import Held
from howdah.worker.seals import Seals
from howdah.worker.store import Happening, Running


@dataclass(slots=True)
class Words:
    """Reports and events to write, and where they came from should writing fail."""

    running: list[Running] = field(default_factory=list)
    events: list[Happening] = field(default_factory=list)
    sources: list[tuple[Held, Report]] = field(default_factory=list)

    def put_back(self) -> None:
        """Nothing was written: the jobs get their words back, to be asked again."""
        for held, report in self.sources:
            held.context.put_back(report)


def gather(many: Iterable[Held], seals: Seals, *, mark_running: bool = False) -> Words:
    """Take what these jobs have said. With mark_running, also those that have only just started."""
    words = Words()
    now = time.monotonic()
    for held in many:
        if held.started is None or (held.spoken is None and (held.marked or not mark_running)):
            continue
        report = Report() if held.spoken is None else held.spoken.take_report()
        job = held.job
        if report:
            words.sources.append((held, report))
            for number, name, data, at in report.events:
                stored = seals.seal_event(held.job_id, name, data) if seals.sealing else data
                happening = Happening(job.id, job.lease, job.events_count + number, name, stored, max(0.0, now - at))
                words.events.append(happening)
        told = report.progress is not None or report.stage is not None
        if told or (mark_running and not held.marked):
            words.running.append(Running(job.id, job.lease, report.progress, report.stage, now - held.started))
    return words
