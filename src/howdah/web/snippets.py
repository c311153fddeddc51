"""A job as code: the same call again, and how to read it, for pasting into a terminal."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

from howdah.model.job import JobRecord


@dataclass(frozen=True, slots=True)
class Snippet:
    """Code in one language."""

    name: str
    code: str
    note: str


def snippets(record: JobRecord, data: Any, address: str, app_name: str = "app") -> list[Snippet]:
    """`data`: the arguments as they may be shown; `address`: that of the job's page."""
    return [
        Snippet("Python", _python(record, data, app_name), "enqueues the same call once more"),
        Snippet("curl", _curl(address), "reads the job as JSON; put in whatever your auth asks for"),
    ]


def _python(record: JobRecord, data: Any, app_name: str) -> str:
    options = f"priority={record.priority}, queue={record.queue!r}, max_attempts={record.max_attempts}"
    head = f"job = {app_name}.definition({record.job_type!r}).using({options})"
    if not isinstance(data, dict):
        return f"{head}.enqueue()  # its arguments are no object: {data!r}"
    if all(key.isidentifier() for key in data):
        arguments = ", ".join(f"{key}={value!r}" for key, value in data.items())
        return f"{head}.enqueue({arguments})"
    return f"{head}.enqueue(**{data!r})"


def _curl(address: str) -> str:
    return f"curl -H 'Accept: application/json' {shlex.quote(address + '.json')}"
