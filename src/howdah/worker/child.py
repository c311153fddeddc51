"""The inside of a child process: one job at a time, until the parent goes away.

Protocol over the pipe, parent to child: a Task. Child to parent: any number of ("report", Report), then one of
("done", text), ("refused", text) or ("raised", text, pickled exception or None).
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import logging
import os
import pickle
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from typing import Any
from uuid import UUID

from howdah.model.context import JobContext
from howdah.model.handler import Handler
from howdah.payload.json_text import from_json, to_json
from howdah.telemetry import tracing
from howdah.telemetry.log_context import current_job
from howdah.worker.executor import ResultRefused, described, result_text

logger = logging.getLogger("howdah.worker")
_REPORT_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Task:
    """A job for the child: where its handler is defined, its stored arguments, and what its context shows."""

    module: str
    qualname: str
    data: str
    job_id: UUID
    job_type: str
    queue: str
    attempt: int
    max_attempts: int
    #: The trace that the handler's own spans and log lines belong to.
    trace: str | None = None
    trace_id: str | None = None

    def about(self) -> dict[str, str]:
        """What a log line about it says."""
        about = {
            "job_id": str(self.job_id),
            "job_type": self.job_type,
            "attempt": f"{self.attempt}/{self.max_attempts}",
        }
        if self.trace_id is not None:
            about["trace_id"] = self.trace_id
        return about


def child_main(pipe: Connection, prepare: Callable[[], object] | None = None) -> None:
    """Serve tasks until the pipe closes."""
    # Signals from a terminal or a service manager go to the whole group: the parent decides what happens to its jobs.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    if prepare is not None:
        _prepare(prepare)
    while True:
        try:
            task: Task = pipe.recv()
        except EOFError:
            return
        _serve(pipe, task)


def _prepare(prepare: Callable[[], object]) -> None:
    try:
        prepare()
    except Exception:
        # Whatever was to be set up here, logs or the like, jobs can do without.
        logger.exception("in_child raised in a child process; going on without it")


def find_handler(module: str, qualname: str) -> Handler:
    """The handler whose function is defined there."""
    found: Any = importlib.import_module(module)
    for name in qualname.split("."):
        found = getattr(found, name)
    handler = found.handler
    assert isinstance(handler, Handler), f"{module}:{qualname} is not a registered job"
    return handler


def _serve(pipe: Connection, task: Task) -> None:
    context = JobContext(
        task.job_id,
        task.job_type,
        task.queue,
        task.attempt,
        task.max_attempts,
        partial(to_json, what="event data"),
    )
    ended = threading.Event()
    lock = threading.Lock()
    pump = threading.Thread(target=_pump, args=(pipe, lock, context, ended), daemon=True)
    pump.start()
    try:
        answer: tuple[object, ...] = ("done", _run(task, context))
    except ResultRefused as error:
        answer = ("refused", str(error))
    except BaseException as error:
        answer = ("raised", described(error), _pickled(error))
    ended.set()
    pump.join()
    with lock:
        pipe.send(answer)


def _run(task: Task, context: JobContext) -> str | None:
    handler = find_handler(task.module, task.qualname)
    # After the handler's module was imported, which may be what sets up OpenTelemetry.
    token = current_job.set(task)
    try:
        with tracing.continuing(task.trace):
            return _call(handler, task, context)
    finally:
        current_job.reset(token)


def _call(handler: Handler, task: Task, context: JobContext) -> str | None:
    args, kwargs = handler.signature.decode(from_json(task.data))
    if handler.signature.takes_context:
        args = (context, *args)
    value = handler.function(*args, **kwargs)
    if inspect.isawaitable(value):
        value = asyncio.run(_await(value))
    return result_text(task.job_type, value)


async def _await(value: Any) -> Any:
    return await value


def _pump(pipe: Connection, lock: threading.Lock, context: JobContext, ended: threading.Event) -> None:
    over = False
    while not over:
        over = ended.wait(_REPORT_SECONDS)
        report = context.take_report()
        if report:
            with lock:
                pipe.send(("report", report))


def _pickled(error: BaseException) -> bytes | None:
    try:
        data = pickle.dumps(error)
        pickle.loads(data)  # noqa: S301 - our own bytes: an exception that cannot be read back must not reach the parent
    except Exception:
        # Any exception class may fail to pickle in its own way; its text has been sent already.
        return None
    return data


def _die_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
