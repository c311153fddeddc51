"""Runs one held job and says how its claim ends: decode, run, encode, or the one way in which it went wrong."""

from __future__ import annotations

import asyncio
import logging
import sys
import traceback
from collections.abc import Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, Protocol

from howdah.model.errors import ArgumentError, JobCancelled, PayloadError
from howdah.model.handler import ErrorHook, Handler
from howdah.model.outcome import Cancel, Fail, Retry, Snooze, checked_delay
from howdah.model.retry import Backoff
from howdah.payload.json_text import from_json, to_json
from howdah.payload.sanitise import clean_text
from howdah.sealing.envelope import SEALED_TEXT
from howdah.telemetry import tracing
from howdah.worker.held import Held, Stop
from howdah.worker.seals import Seals
from howdah.worker.store import Completion, Ending

logger = logging.getLogger("howdah.worker")
ERROR_LIMIT = 16_384


class TimedOut(Exception):
    """The handler's time was up. `lingering` is the thread that could not be stopped, if any."""

    def __init__(self, timeout: timedelta, lingering: asyncio.Future[Any] | None = None) -> None:
        super().__init__(f"timed out after {timeout.total_seconds():g} s")
        self.lingering = lingering


class ChildDied(Exception):
    """The child process that ran the handler is gone."""


class Abandoned(Exception):
    """The worker stops and this handler cannot be interrupted: its thread is left behind."""


class ResultRefused(Exception):
    """The handler returned what JSON cannot hold."""


class Runner(Protocol):
    """Runs a handler in one of the ways; returns JSON text or None, raises what the handler raised."""

    async def run(
        self, handler: Handler, held: Held, arguments: tuple[tuple[object, ...], dict[str, object]]
    ) -> str | None: ...


class Executor:
    """Turns a held job into the end of its claim."""

    def __init__(
        self,
        handlers: Mapping[str, Handler],
        runners: Mapping[str, Runner],
        seals: Seals,
        on_error: Sequence[ErrorHook] = (),
    ) -> None:
        self._handlers = handlers
        self._runners = runners
        self._seals = seals
        self._on_error = on_error

    async def execute(self, held: Held) -> Completion | Ending | None:
        """Run the handler; None when the job is no longer ours to end."""
        if held.job.data.startswith(SEALED_TEXT):
            refused = self._seals.open(held)
            if refused is not None:
                return refused
        end = await self._run(held)
        return self._seals.seal(held, end) if self._seals.sealing else end

    async def _run(self, held: Held) -> Completion | Ending | None:
        job = held.job
        if tracing.API in sys.modules and not held.traced and tracing.is_on(job.trace):
            return await self._execute_traced(held)
        handler = self._handlers[job.job_type]
        try:
            arguments = handler.signature.decode(_read(job.data))
        except ArgumentError as error:
            held.error_kind = type(error).__name__
            reason = f"the arguments do not fit the handler: {plain(error)}"
            return Ending(job.id, job.lease, "fail", reason, by_handler=True)
        try:
            result = await self._runners[handler.mode].run(handler, held, arguments)
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and held.stop is not None:
                # The interruption has arrived; the task itself goes on to its acknowledgement.
                task = asyncio.current_task()
                while task is not None and task.uncancel() > 0:
                    pass
            return self._ending(handler, held, error)
        if held.stop is Stop.LOST:
            return None
        return Completion(job.id, job.lease, result, held.ran())

    async def _execute_traced(self, held: Held) -> Completion | Ending | None:
        held.traced = True
        job = held.job
        with tracing.running(job.trace, job.job_type, job.queue, held.job_id, job.attempts) as span:
            held.trace_id = span.trace_id
            end = await self._run(held)
            outcome = "lost" if end is None else "complete" if isinstance(end, Completion) else end.outcome
            span.ends(outcome, held.error_kind)
            return end

    def _ending(self, handler: Handler, held: Held, error: BaseException) -> Ending | None:
        job = held.job
        held.error_kind = type(error).__name__

        def end(outcome: str, text: str | None, delay: timedelta | None = None, *, quoting: bool = False) -> Ending:
            seconds = None if delay is None else delay.total_seconds()
            return Ending(job.id, job.lease, outcome, text, seconds, held.ran(), quoting)

        if held.stop is Stop.LOST:
            return None
        match error:
            case Snooze():
                return end("snooze", None, error.delay)
            case Cancel():
                return end("cancel", plain(error), quoting=True)
            case Fail():
                return end("fail", plain(error), quoting=True)
            case Retry():
                delay = error.after if error.after is not None else _delay(handler, held, error)
                return end("retry" if delay is not None else "fail", plain(error), delay, quoting=True)
            case JobCancelled() if held.context.cancelled:
                return end("cancel", "cancelled on request")
            case ChildDied():
                self._tell(error, held)
                return end("death", plain(error), _delay(handler, held, error))
        if held.stop is Stop.CANCEL and isinstance(error, asyncio.CancelledError):
            return end("cancel", "cancelled on request")
        if held.stop is Stop.SHUTDOWN and isinstance(error, asyncio.CancelledError | Abandoned):
            return end("release", None)
        self._tell(error, held)
        if isinstance(error, ResultRefused):
            return end("fail", f"the result cannot be stored: {plain(error)}", quoting=True)
        if isinstance(error, TimedOut):
            held.lingering = error.lingering
        delay = _delay(handler, held, error)
        quoting = not isinstance(error, TimedOut)
        return end("fail" if delay is None else "retry", described(error), delay, quoting=quoting)

    def _tell(self, error: BaseException, held: Held) -> None:
        for hook in self._on_error:
            try:
                hook(error, held.context)
            except Exception as broken:
                logger.error("an on_error function raised %s", type(broken).__name__, extra=held.about())


def _read(data: str) -> object:
    try:
        return from_json(data)
    except ValueError as error:
        raise ArgumentError(f"the stored arguments cannot be read: {error}") from error


def result_text(job_type: str, value: object) -> str | None:
    """A handler's result as JSON text; None stays null."""
    try:
        return None if value is None else to_json(value, what=f"the result of {job_type}")
    except PayloadError as error:
        raise ResultRefused(str(error)) from error


def described(error: BaseException) -> str:
    """An error with its traceback, in a form that the table can hold."""
    if isinstance(error, TimedOut):
        return plain(error)
    try:
        text = "".join(traceback.format_exception(type(error), error, _from_handler(error.__traceback__)))
    except Exception as broken:  # a handler's exception may even fail to describe itself
        text = f"{type(error).__name__} (its description raised {type(broken).__name__})"
    return clean_text(text, ERROR_LIMIT)


def _from_handler(frames: TracebackType | None) -> TracebackType | None:
    """The traceback without the worker's own frames at its top: it begins where the user's code does."""
    first = frames
    while first is not None and str(first.tb_frame.f_globals.get("__name__")).startswith(("howdah.", "asyncio.")):
        first = first.tb_next
    # All of it ours: then that is where it went wrong.
    return first or frames


def plain(error: BaseException) -> str:
    """Only what the error says."""
    try:
        text = str(error)
    except Exception as broken:
        text = f"{type(error).__name__} (its description raised {type(broken).__name__})"
    # A text of control characters only is none.
    return clean_text(text, ERROR_LIMIT) or type(error).__name__


def _delay(handler: Handler, held: Held, error: BaseException) -> timedelta | None:
    try:
        delay = handler.retry(held.job.errors, error)
        return None if delay is None else checked_delay("the retry policy", delay)
    except Exception as broken:
        logger.error(
            "retry policy of %s raised %s; using the default",
            handler.name,
            type(broken).__name__,
            extra={"job_id": str(held.job_id)},
        )
        return Backoff()(held.job.errors, error)
