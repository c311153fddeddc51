"""Whose log line it is: lines that a handler writes, itself or in what it calls, carry the job's id, its attempt and
the trace, on the event loop, in threads and in child processes."""

from __future__ import annotations

import logging
from contextvars import ContextVar
from typing import Protocol

from howdah.telemetry.tracing import current_trace_id


class Named(Protocol):
    """Something that can say what a log line about it should say."""

    def about(self) -> dict[str, str]:
        """Field → text."""
        ...


#: The job whose handler this code runs for. Tasks and threads that it starts inherit it.
current_job: ContextVar[Named | None] = ContextVar("howdah_current_job", default=None)
FIELDS = ("job_id", "job_type", "attempt", "trace_id")


class JobLogFilter(logging.Filter):
    """Put it on your logging handlers: every record made inside a job's handler gets the fields `job_id`, `job_type`,
    `attempt` and, where OpenTelemetry is used, `trace_id`. Other records get `default` for them, if it is given: a
    format string that names a field needs it everywhere."""

    def __init__(self, default: str | None = None) -> None:
        super().__init__()
        self._default = default

    def filter(self, record: logging.LogRecord) -> bool:
        """Adds to the record what is not there; always true."""
        job = current_job.get()
        fields = job.about() if job is not None else {}
        if (trace_id := current_trace_id()) is not None:
            fields["trace_id"] = trace_id
        for name in FIELDS:
            value = fields.get(name, self._default)
            if value is not None and not hasattr(record, name):
                setattr(record, name, value)
        return True
