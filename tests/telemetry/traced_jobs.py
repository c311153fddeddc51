"""Handlers that run in child processes, in a module that sets up what it needs there, as an application's does."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from howdah import Howdah

if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
    trace.set_tracer_provider(TracerProvider())
app = Howdah("postgresql://nowhere")


@app.job(process=True)
def child_span() -> dict[str, str]:
    span = trace.get_current_span().get_span_context()
    return {"trace": f"{span.trace_id:032x}", "span": f"{span.span_id:016x}", "pid": str(os.getpid())}


@app.job(process=True)
def child_logs() -> int:
    logging.getLogger("shop").warning("from the child")
    return os.getpid()


@app.job(process=True)
def child_raises() -> None:
    raise LookupError("in the child")


def log_to_file() -> None:
    """For WorkerSettings.in_child."""
    from howdah import JobLogFilter

    handler = logging.FileHandler(Path(os.environ["CHILD_LOG"]))
    handler.addFilter(JobLogFilter())
    handler.setFormatter(_Json())
    logging.getLogger().addHandler(handler)


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = {name: getattr(record, name, None) for name in ("job_id", "job_type", "attempt", "trace_id")}
        return json.dumps({"message": record.getMessage(), **fields})
