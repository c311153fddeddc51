"""OpenTelemetry, where the application uses it: a span for each enqueue, and one for each run as its child, across
processes and however much later.

RULE: nothing here imports OpenTelemetry. If nobody in this process has, there is no tracer to speak to, and all of it
costs one look into a dictionary. Only its API is needed (`pip install howdah[otel]`); the application brings the rest.
Names follow the conventions for messaging systems. The text of an error is not told: it may quote a job's arguments.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from uuid import UUID

#: The API's module, once somebody has imported it.
API = "opentelemetry.trace"
#: A carrier longer than this goes without its baggage.
_LONGEST = 2000
_ESSENTIAL = ("traceparent", "tracestate")


def is_on(carried: str | None = None) -> bool:
    """Whether there is anything to tell: a tracer, or a context to pass on."""
    api = sys.modules.get(API)
    return api is not None and (carried is not None or _has_tracer(api))


def _has_tracer(api: Any) -> bool:
    # Until the application sets a provider, the API hands out one that does nothing.
    return not isinstance(api.get_tracer_provider(), api.ProxyTracerProvider)


@contextmanager
def enqueueing(job_type: str, queue: str, ids: Sequence[UUID]) -> Iterator[str | None]:
    """A span around an enqueue; what to store with the jobs, as text, if anything."""
    api: Any = sys.modules.get(API)
    if api is None:
        yield None
        return
    if not _has_tracer(api):
        yield carried_text()
        return
    attributes: dict[str, Any] = {**_attributes("enqueue", "send", job_type, queue)}
    if len(ids) == 1:
        attributes["messaging.message.id"] = str(ids[0])
    else:
        attributes["messaging.batch.message_count"] = len(ids)
    with _span(api, f"enqueue {queue}", api.SpanKind.PRODUCER, attributes) as span:
        try:
            yield carried_text()
        except BaseException as error:
            _mark_failed(api, span, type(error).__name__)
            raise


class RunSpan:
    """The span of one attempt, while it is the current one."""

    def __init__(self, api: Any, span: Any) -> None:
        self._api = api
        self._span = span

    @property
    def trace_id(self) -> str | None:
        """As logs write it; None without a trace."""
        return _trace_id(self._span)

    def ends(self, outcome: str, error_kind: str | None) -> None:
        """How the attempt ended, and the kind of error if it was one."""
        self._span.set_attribute("howdah.outcome", outcome)
        if error_kind is not None and outcome in ("fail", "retry", "death"):
            _mark_failed(self._api, self._span, error_kind)


@contextmanager
def running(carried: str | None, job_type: str, queue: str, job_id: UUID, attempt: int) -> Iterator[RunSpan]:
    """A span around an attempt, in the trace of whoever enqueued the job. Only where `is_on`."""
    api: Any = sys.modules[API]
    attributes = {
        **_attributes("run", "process", job_type, queue),
        "messaging.message.id": str(job_id),
        "howdah.attempt": attempt,
    }
    parent = _extracted(carried)
    with _span(api, f"run {queue}", api.SpanKind.CONSUMER, attributes, parent) as span:
        yield RunSpan(api, span)


@contextmanager
def continuing(carried: str | None) -> Iterator[None]:
    """In a child process: what the handler tells belongs to the run that its parent has begun."""
    if carried is None or not is_on(carried):
        yield
        return
    from opentelemetry import context

    token = context.attach(_extracted(carried))
    try:
        yield
    finally:
        context.detach(token)


def carried_text() -> str | None:
    """The current context as text to be carried elsewhere; None where there is nothing to carry."""
    if API not in sys.modules:
        return None
    from opentelemetry import propagate

    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    text = json.dumps(carrier)
    if len(text) > _LONGEST:
        text = json.dumps(carrier := {name: carrier[name] for name in _ESSENTIAL if name in carrier})
    return text if carrier and len(text) <= _LONGEST else None


def current_trace_id() -> str | None:
    """Of the span that this code runs in, as logs write it."""
    api: Any = sys.modules.get(API)
    return None if api is None else _trace_id(api.get_current_span())


def _extracted(carried: str | None) -> Any:
    from opentelemetry import context, propagate

    try:
        carrier = json.loads(carried) if carried is not None else {}
    except ValueError:
        # Anybody may write to the table.
        carrier = {}
    if not isinstance(carrier, dict):
        carrier = {}
    named = {str(name): value for name, value in carrier.items() if isinstance(value, str)}
    # From nothing, and not from what is current here: a worker has no trace of its own.
    return propagate.extract(named, context.Context())


def _span(
    api: Any, name: str, kind: Any, attributes: dict[str, Any], parent: Any = None
) -> AbstractContextManager[Any]:
    span: AbstractContextManager[Any] = api.get_tracer("howdah").start_as_current_span(
        name,
        context=parent,
        kind=kind,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    )
    return span


def _attributes(name: str, kind: str, job_type: str, queue: str) -> dict[str, str]:
    return {
        "messaging.system": "howdah",
        "messaging.operation.name": name,
        "messaging.operation.type": kind,
        "messaging.destination.name": queue,
        "howdah.job_type": job_type,
    }


def _mark_failed(api: Any, span: Any, error_kind: str) -> None:
    span.set_attribute("error.type", error_kind)
    span.set_status(api.Status(api.StatusCode.ERROR))


def _trace_id(span: Any) -> str | None:
    found = span.get_span_context()
    return f"{found.trace_id:032x}" if found.is_valid else None
