"""OpenTelemetry: from the enqueuer's span to the handler's, whatever lies between."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from opentelemetry import baggage, context, trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from howdah import DatabaseUnavailable, Fail, Howdah, JobContext
from tests.rig.waiting import until_async
from tests.rig.working import working
from tests.telemetry import traced_jobs

Sql = psycopg.Connection[Any]
tracer = trace.get_tracer("shop")


def named(spans: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [span for span in spans.get_finished_spans() if span.name == name]


def trace_of(span: Any) -> str:
    return f"{span.get_span_context().trace_id:032x}"


async def finished(spans: InMemorySpanExporter, name: str, count: int = 1) -> list[ReadableSpan]:
    await until_async(lambda: len(named(spans, name)) >= count, f"{count} spans {name!r}")
    return named(spans, name)


async def test_a_run_is_a_child_of_its_enqueue(app: Howdah, spans: InMemorySpanExporter, sql: Sql) -> None:
    @app.job(queue="videos")
    async def encode(video: int) -> str:
        with tracer.start_as_current_span("inside"):
            return trace_of(trace.get_current_span())

    @app.job(queue="videos")
    def in_thread() -> str:
        return trace_of(trace.get_current_span())

    async with working(app):
        with tracer.start_as_current_span("request") as request:
            first = await encode.aenqueue(1)
            second = await in_thread.aenqueue()
        assert (await first.await_(30)).result == trace_of(request)
        assert (await second.await_(30)).result == trace_of(request)
        runs = {
            run.attributes["howdah.job_type"]: run for run in await finished(spans, "run videos", 2) if run.attributes
        }
    sends = {send.attributes["howdah.job_type"]: send for send in named(spans, "enqueue videos") if send.attributes}
    run, send = runs["encode"], sends["encode"]
    assert (send.kind, run.kind) == (SpanKind.PRODUCER, SpanKind.CONSUMER)
    assert send.context is not None
    assert run.parent is not None
    assert send.parent is not None
    assert (run.parent.span_id, run.parent.trace_id) == (send.context.span_id, send.context.trace_id)
    assert send.parent.span_id == request.get_span_context().span_id
    assert dict(send.attributes or {}) == {
        "messaging.system": "howdah",
        "messaging.operation.name": "enqueue",
        "messaging.operation.type": "send",
        "messaging.destination.name": "videos",
        "messaging.message.id": str(first.id),
        "howdah.job_type": "encode",
    }
    assert dict(run.attributes or {}) == {
        "messaging.system": "howdah",
        "messaging.operation.name": "run",
        "messaging.operation.type": "process",
        "messaging.destination.name": "videos",
        "messaging.message.id": str(first.id),
        "howdah.job_type": "encode",
        "howdah.attempt": 1,
        "howdah.outcome": "complete",
    }
    (inside,) = named(spans, "inside")
    assert inside.parent is not None
    assert run.context is not None
    assert inside.parent.span_id == run.context.span_id
    # What the handler gets is untouched.
    assert sql.execute("SELECT data FROM jobs WHERE id = %s", (first.id,)).fetchone() == ({"video": 1},)
    await app.aclose()


@pytest.mark.parametrize("count", [2, 300])
async def test_many_at_once_have_one_span_and_all_belong_to_it(
    app: Howdah, spans: InMemorySpanExporter, sql: Sql, count: int
) -> None:
    @app.job()
    async def work() -> None: ...

    await work.aenqueue_many([{}] * count)
    work.enqueue_many([{}] * count)
    for send in named(spans, "enqueue default"):
        assert (send.attributes or {})["messaging.batch.message_count"] == count
    found = sql.execute("SELECT trace, count(*) FROM jobs GROUP BY trace").fetchall()
    assert [many for _, many in found] == [count, count]
    assert {json.loads(text)["traceparent"].split("-")[1] for text, _ in found} == {
        trace_of(send) for send in named(spans, "enqueue default")
    }
    await app.aclose()


async def test_errors_mark_the_span_by_their_kind_and_never_by_their_text(
    app: Howdah, spans: InMemorySpanExporter
) -> None:
    @app.job(max_attempts=2, retry=lambda errors, error: timedelta(0))
    async def breaks(ctx: JobContext, secret: str) -> None:
        if ctx.attempt == 1:
            raise LookupError(secret)
        raise Fail(secret)

    async with working(app):
        job = await breaks.aenqueue("password")
        await job.await_(30)
        first, second = await finished(spans, "run default", 2)
    assert [(span.attributes or {})["error.type"] for span in (first, second)] == ["LookupError", "Fail"]
    assert [(span.attributes or {})["howdah.outcome"] for span in (first, second)] == ["retry", "fail"]
    assert {span.status.status_code for span in (first, second)} == {StatusCode.ERROR}
    assert trace_of(first) == trace_of(second)
    assert "password" not in "".join(span.to_json() for span in spans.get_finished_spans())
    await app.aclose()


def test_an_enqueue_that_fails_marks_its_span_by_the_kind_of_error_only(spans: InMemorySpanExporter) -> None:
    app = Howdah("postgresql://secret@127.0.0.1:1/nowhere")

    @app.job()
    async def work() -> None: ...

    with pytest.raises(DatabaseUnavailable):
        work.enqueue()
    (send,) = named(spans, "enqueue default")
    assert (send.status.status_code, send.status.description) == (StatusCode.ERROR, None)
    assert (send.attributes or {})["error.type"] == "DatabaseUnavailable"
    assert send.events == ()


async def test_a_child_process_goes_on_with_the_trace(app: Howdah, spans: InMemorySpanExporter) -> None:
    app.include(traced_jobs.app)
    async with working(app):
        job = await app.definition("child_span").aenqueue()
        seen = (await job.await_(60)).result
        (run,) = await finished(spans, "run default")
    assert run.context is not None
    assert seen["trace"] == trace_of(run)
    assert seen["span"] == f"{run.context.span_id:016x}"
    await app.aclose()


@pytest.mark.parametrize(
    "nonsense", ["", "no JSON", "[]", '{"traceparent": 7}', '{"traceparent": "00-zz-1-01"}', "{" * 5000]
)
async def test_whatever_stands_in_the_column_the_job_runs(
    app: Howdah, spans: InMemorySpanExporter, sql: Sql, nonsense: str
) -> None:
    @app.job()
    async def work() -> None: ...

    sql.execute("INSERT INTO jobs (job_type, trace) VALUES ('work', %s)", (nonsense,))
    async with working(app):
        (run,) = await finished(spans, "run default")
    assert run.parent is None
    await app.aclose()


async def test_too_much_baggage_is_left_behind(app: Howdah, spans: InMemorySpanExporter, sql: Sql) -> None:
    @app.job()
    async def work() -> None: ...

    for size, kept in [(100, {"traceparent", "baggage"}), (3000, {"traceparent"})]:
        token = context.attach(baggage.set_baggage("customer", "x" * size))
        try:
            job = await work.aenqueue()
        finally:
            context.detach(token)
        row = sql.execute("SELECT trace FROM jobs WHERE id = %s", (job.id,)).fetchone()
        assert row is not None
        assert json.loads(row[0]).keys() == kept
    await app.aclose()


def test_nothing_of_it_is_imported_unless_the_application_does() -> None:
    program = (
        "import sys; from howdah import Howdah; import howdah.worker.worker, howdah.client.client, howdah.cli.worker\n"
        "from howdah.telemetry import tracing\n"
        "with tracing.enqueueing('t', 'q', []) as trace: assert trace is None\n"
        "assert tracing.carried_text() is tracing.current_trace_id() is None and not tracing.is_on('{}')\n"
        "assert not [name for name in sys.modules if name.startswith(('opentelemetry', 'prometheus', 'sentry'))]\n"
        "import opentelemetry.trace\n"
        "assert not tracing.is_on(), 'nobody has set a provider'\n"
        "with tracing.enqueueing('t', 'q', []) as trace: assert trace is None\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
