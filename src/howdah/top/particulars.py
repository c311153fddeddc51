"""Everything about one job, for the sheet that enter opens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from functools import partial

from rich.text import Text

from howdah.admin import store
from howdah.admin.views import JobLine
from howdah.admin.why import find_why
from howdah.model.errors import HowdahError
from howdah.model.job import JobRecord
from howdah.top.cells import visible
from howdah.top.reading import Source

_DATA_SHOWN = 4000


async def read_particulars(source: Source, job: JobLine) -> list[Text]:
    """The job as it stands now, as far as this role may read it."""
    try:
        records = await source.read(partial(store.read_jobs, [job.id]))
    except HowdahError:
        # Without the right to what jobs carry, there is what the list shows.
        records = []
    try:
        why = await source.read(partial(find_why, job.id))
        reasons = [reason.words for reason in why.reasons]
    except HowdahError as error:
        reasons = [str(error)]
    record = records[0] if records else None
    fields = [*_fields(record or job), *(("why", words) for words in reasons)]
    parts = [Text.assemble((f"{name:<10}", "dim"), visible(value)) for name, value in fields]
    if record is not None:
        parts += [Text(), Text("arguments", "dim"), *_lines(_shortened(json.dumps(record.data, indent=2, default=str)))]
    last_error = record.last_error if record is not None else job.error_end
    if last_error:
        parts += [Text(), Text("error", "dim"), *_lines(last_error, "red")]
    return parts


def _fields(job: JobRecord | JobLine) -> Iterator[tuple[str, object]]:
    yield "id", job.id
    yield "type", job.job_type
    yield "queue", f"{job.queue}, priority {job.priority}"
    yield "status", f"{job.status}, attempt {job.attempts} of {job.max_attempts}"
    yield "progress", f"{job.progress} %{f', {job.current_stage}' if job.current_stage else ''}"
    if job.worker_id:
        yield "worker", job.worker_id
    for name in ("created_at", "started_at", "completed_at"):
        time: datetime | None = getattr(job, name)
        if time is not None:
            yield name.removesuffix("_at"), _local(time)


def _local(time: datetime) -> str:
    try:
        return time.astimezone().isoformat(sep=" ", timespec="seconds")
    except OverflowError:
        # Infinity is read as the last moment that Python knows, which is a day too late for a zone in the east.
        return time.isoformat(sep=" ", timespec="seconds")


def _shortened(text: str) -> str:
    return text if len(text) <= _DATA_SHOWN else f"{text[:_DATA_SHOWN]}\n… (howdah show has all of it)"


def _lines(text: str, style: str = "") -> list[Text]:
    """Its lines, each without what a terminal would obey; indented as they are."""
    return [
        Text("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line), style)
        for line in text.splitlines()
    ]
