"""Whose log line it is, and who is told of errors."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sentry_sdk
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from howdah import Fail, Howdah, JobContext, JobLogFilter, OptionError, WorkerSettings
from tests.cli.conftest import Shell
from tests.conftest import Database
from tests.rig.waiting import until_async
from tests.rig.working import working
from tests.telemetry import traced_jobs

log = logging.getLogger("shop")


class Keeper(logging.Handler):
    """Keeps records that have passed the filter."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self.addFilter(JobLogFilter(**options))

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def said(self, message: str) -> logging.LogRecord:
        return next(record for record in self.records if record.getMessage() == message)

    def fields(self, message: str) -> tuple[Any, ...]:
        record = self.said(message)
        return tuple(getattr(record, name, None) for name in ("job_id", "job_type", "attempt"))


@pytest.fixture
def kept() -> Iterator[Keeper]:
    keeper = Keeper()
    root = logging.getLogger()
    root.addHandler(keeper)
    level, howdahs = root.level, logging.getLogger("howdah").level
    root.setLevel(logging.INFO)
    yield keeper
    root.removeHandler(keeper)
    root.setLevel(level)
    logging.getLogger("howdah").setLevel(howdahs)


async def test_lines_of_a_handler_carry_its_job(app: Howdah, kept: Keeper) -> None:
    @app.job(max_attempts=3, retry=lambda errors, error: timedelta(0))
    async def on_loop(ctx: JobContext) -> None:
        log.info("on the loop %d", ctx.attempt)
        await asyncio.sleep(0)
        log.info("after waiting %d", ctx.attempt)
        await asyncio.to_thread(log.info, "in a thread of its own %d", ctx.attempt)
        left.append(asyncio.create_task(later(ctx.attempt)))
        if ctx.attempt == 1:
            raise LookupError

    @app.job(max_attempts=7)
    def in_thread() -> None:
        log.info("in a thread")

    async def later(attempt: int) -> None:
        await over.wait()
        log.info("left behind %d", attempt)

    left: list[asyncio.Task[None]] = []
    over = asyncio.Event()
    async with working(app):
        first, second = await on_loop.aenqueue(), await in_thread.aenqueue()
        await first.await_(30)
        await second.await_(30)
        over.set()
        await asyncio.gather(*left)
        log.info("nobody's")
    for attempt in (1, 2):
        for line in ("on the loop", "after waiting", "in a thread of its own", "left behind"):
            assert kept.fields(f"{line} {attempt}") == (str(first.id), "on_loop", f"{attempt}/3")
    assert kept.fields("in a thread") == (str(second.id), "in_thread", "1/7")
    assert kept.fields("nobody's") == (None, None, None)
    assert kept.fields("attempt failed, will be tried again") == (str(first.id), "on_loop", "1/3")
    await app.aclose()


async def test_lines_carry_the_trace(app: Howdah, kept: Keeper, spans: InMemorySpanExporter) -> None:
    @app.job()
    async def work() -> None:
        log.info("working")

    async with working(app):
        await (await work.aenqueue()).await_(30)
        await until_async(lambda: any(r.getMessage() == "job completed" for r in kept.records), "it was logged")
    runs = [span for span in spans.get_finished_spans() if span.name == "run default"]
    assert runs[0].context is not None
    trace_id = f"{runs[0].context.trace_id:032x}"
    assert vars(kept.said("working"))["trace_id"] == trace_id
    assert vars(kept.said("job completed"))["trace_id"] == trace_id
    await app.aclose()


def test_a_format_that_names_a_field_has_it_in_every_line() -> None:
    keeper = Keeper(default="-")
    record = logging.LogRecord("x", logging.INFO, "", 0, "hello", None, None)
    keeper.handle(record)
    assert logging.Formatter("%(job_id)s %(attempt)s %(trace_id)s %(message)s").format(record) == "- - - hello"
    own = logging.LogRecord("x", logging.INFO, "", 0, "hello", None, None)
    own.job_id = "mine"
    keeper.handle(own)
    assert vars(own)["job_id"] == "mine", "what the caller says stands"


async def test_lines_of_a_child_process_carry_its_job(
    app: Howdah, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spans: InMemorySpanExporter
) -> None:
    monkeypatch.setenv("CHILD_LOG", str(tmp_path / "log"))
    app.include(traced_jobs.app)
    async with working(app, in_child=traced_jobs.log_to_file):
        job = await app.definition("child_logs").aenqueue()
        assert (await job.await_(60)).result != os.getpid()
        runs = [span for span in spans.get_finished_spans() if span.name == "run default"]
    line = json.loads((tmp_path / "log").read_text())
    assert runs[0].context is not None
    assert line == {
        "message": "from the child",
        "job_id": str(job.id),
        "job_type": "child_logs",
        "attempt": "1/3",
        "trace_id": f"{runs[0].context.trace_id:032x}",
    }
    await app.aclose()


JOBS = """
import logging
from howdah import Howdah

app = Howdah()


@app.job(process=True)
def in_child() -> None:
    logging.getLogger("shop").info("from the child")


@app.job()
def in_thread() -> None:
    logging.getLogger("shop").info("from a thread")
"""


def test_howdah_worker_writes_the_lines_of_child_processes_as_its_own(tmp_path: Path, database: Database) -> None:
    (tmp_path / "jobs.py").write_text(JOBS)
    shell = Shell(tmp_path, {"HOWDAH_URL": database.url})
    with shell.worker("--log-format", "json") as worker:
        for name in ("in_child", "in_thread"):
            job = shell("enqueue", "jobs:app", name, "{}").must_work().out.strip()
            worker.wait_for(f'"job completed".*"job_id": "{job}"')
            line = next(
                json.loads(line) for line in worker.log.splitlines() if '"logger": "shop"' in line and job in line
            )
            assert (line["job_id"], line["job_type"], line["attempt"]) == (job, name, "1/3")
            assert line["message"] in ("from the child", "from a thread")
        assert worker.signal_and_wait(signal.SIGTERM) == 0


def test_in_child_must_be_found_by_a_child() -> None:
    with pytest.raises(OptionError, match="top of a module"):
        WorkerSettings(in_child=lambda: None)


class FakeTransport(sentry_sdk.transport.Transport):
    """Keeps what would be sent."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[dict[str, Any]] = []

    def capture_envelope(self, envelope: Any) -> None:
        event = envelope.get_event()
        if event is not None:
            self.events.append(event)


async def test_errors_reach_sentry_as_documented(app: Howdah) -> None:
    """The function is that of docs/observability.md."""
    transport = FakeTransport()
    client = sentry_sdk.Client(dsn="https://key@sentry.example/1", transport=transport, default_integrations=False)

    @app.on_error
    def tell_sentry(error: BaseException, job: JobContext) -> None:
        with sentry_sdk.new_scope() as scope:
            scope.set_client(client)
            scope.set_tag("job_type", job.job_type)
            scope.set_context("job", {"id": str(job.job_id), "attempt": job.attempt})
            scope.capture_exception(error)

    @app.on_error
    def broken(error: BaseException, job: JobContext) -> None:
        raise RuntimeError("the hook itself")

    @app.job(max_attempts=1)
    async def breaks() -> None:
        raise LookupError("no such video")

    @app.job(max_attempts=1)
    async def says_no() -> None:
        raise Fail("a word of the handler's")

    app.include(traced_jobs.app)
    async with working(app):
        jobs = [await breaks.aenqueue(), await says_no.aenqueue()]
        jobs.append(await app.definition("child_raises").using(max_attempts=1).aenqueue())
        for job in jobs:
            await job.await_(60)
    assert [job.status for job in jobs] == ["failed"] * 3
    told = {event["tags"]["job_type"]: event for event in transport.events}
    assert told.keys() == {"breaks", "child_raises"}
    exception = told["breaks"]["exception"]["values"][-1]
    assert (exception["type"], exception["value"]) == ("LookupError", "no such video")
    assert [frame["function"] for frame in exception["stacktrace"]["frames"]][-1] == "breaks"
    assert told["breaks"]["contexts"]["job"] == {"id": str(jobs[0].id), "attempt": 1}
    assert told["child_raises"]["exception"]["values"][-1]["type"] == "LookupError"
    with pytest.raises(OptionError, match="on_error takes a function"):
        app.on_error("no function")  # type: ignore[arg-type]  # the mistake
    await app.aclose()
