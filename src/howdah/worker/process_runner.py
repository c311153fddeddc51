"""Runs handlers in child processes, which can be killed. A child serves one job at a time and is kept for the next; one
that was killed, or died, is not."""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from howdah.model.context import Report
from howdah.model.errors import OptionError
from howdah.model.handler import Handler
from howdah.telemetry import tracing
from howdah.worker.child import Task, child_main
from howdah.worker.executor import ChildDied, ResultRefused, TimedOut
from howdah.worker.held import Held

_Arguments = tuple[tuple[object, ...], dict[str, object]]


class RemoteError(Exception):
    """An error raised in a child process that could not be brought over whole; its text is what the child saw."""


class _Child:
    """One child process, its pipe, and the thread that reads from it."""

    def __init__(self, prepare: Callable[[], object] | None) -> None:
        # "spawn", because a fork would copy this process's threads' locks in whatever state they are.
        context = multiprocessing.get_context("spawn")
        self._pipe, inside = context.Pipe()
        self.process: BaseProcess = context.Process(target=child_main, args=(inside, prepare), daemon=True)
        self.process.start()
        inside.close()
        self._held: Held | None = None
        self._answer: asyncio.Future[tuple[Any, ...]] | None = None

    def begin(self, task: Task, held: Held) -> asyncio.Future[tuple[Any, ...]]:
        """Hand it a task; the future holds its answer, or ChildDied."""
        self._held = held
        # Made here: the thread that reads the child's reports may only use it.
        _ = held.context
        self._answer = asyncio.get_running_loop().create_future()
        thread = threading.Thread(target=self._read, args=(self._pipe, held, self._answer), daemon=True)
        try:
            self._pipe.send(task)
        except OSError:
            self._answer.set_exception(ChildDied("the child process died before it could start"))
            return self._answer
        thread.start()
        return self._answer

    def _read(self, pipe: Connection, held: Held, answer: asyncio.Future[tuple[Any, ...]]) -> None:
        outcome: tuple[Any, ...] | Exception
        try:
            while (message := pipe.recv())[0] == "report":
                report: Report = message[1]
                held.context.add_report(report)
            outcome = message
        except (EOFError, OSError):
            self.process.join()
            outcome = ChildDied(f"the child process running this job {_death(self.process.exitcode)}")
        try:
            answer.get_loop().call_soon_threadsafe(_settle, answer, outcome)
        except RuntimeError:
            return  # the loop has closed: nobody waits any more

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()

    def close(self) -> None:
        """Let an idle child go."""
        self._pipe.close()


class ProcessRunner:
    """`process=True` handlers. `prepare` is called first in every child."""

    def __init__(self, prepare: Callable[[], object] | None = None) -> None:
        self._prepare = prepare
        self._idle: list[_Child] = []

    async def run(self, handler: Handler, held: Held, arguments: _Arguments) -> str | None:
        """Have a child run the handler, within its timeout; interruptions kill the child."""
        job = held.job
        idle = self._idle_child()
        child = idle if idle is not None else await asyncio.to_thread(_Child, self._prepare)
        held.interrupt = child.kill
        if held.stop is not None:
            child.kill()
            raise asyncio.CancelledError
        held.started = time.monotonic()
        task = Task(
            handler.function.__module__,
            handler.function.__qualname__,
            job.data,
            held.job_id,
            job.job_type,
            job.queue,
            job.attempts,
            job.max_attempts,
            tracing.carried_text(),
            held.trace_id,
        )
        try:
            answer = await self._within_timeout(handler, child, child.begin(task, held))
        except ChildDied:
            if held.stop is not None:
                raise asyncio.CancelledError from None
            raise
        finally:
            held.interrupt = None
        self._idle.append(child)
        return _read_answer(answer)

    def _idle_child(self) -> _Child | None:
        while self._idle:
            child = self._idle.pop()
            if child.process.is_alive():
                return child
            # It died while it had nothing to do: no job's fault.
            child.close()
        return None

    async def _within_timeout(
        self, handler: Handler, child: _Child, answer: asyncio.Future[tuple[Any, ...]]
    ) -> tuple[Any, ...]:
        if handler.timeout is None:
            return await answer
        await asyncio.wait((answer,), timeout=handler.timeout.total_seconds())
        if answer.done():
            return answer.result()
        child.kill()
        answer.add_done_callback(lambda done: done.exception())
        raise TimedOut(handler.timeout)

    def close(self) -> None:
        """Let all idle children go."""
        for child in self._idle:
            child.close()
        self._idle.clear()


def check_importable(handler: Handler) -> None:
    """Refuse a handler that a child process could not find again."""
    qualname = handler.function.__qualname__
    if "<" in qualname:
        raise OptionError(f"{handler.name}: process=True needs a function at the top of a module, not {qualname}")


def _read_answer(answer: tuple[Any, ...]) -> str | None:
    match answer:
        case ("done", text):
            result: str | None = text
            return result
        case ("refused", text):
            raise ResultRefused(text)
        case ("raised", text, pickled):
            error = pickle.loads(pickled) if pickled is not None else RemoteError(text)  # noqa: S301 - from our own child
            if isinstance(error, BaseException):
                raise error
    raise AssertionError(f"a child answered {answer[0]!r}")


def _settle(answer: asyncio.Future[tuple[Any, ...]], message: tuple[Any, ...] | Exception) -> None:
    if answer.done():
        return
    if isinstance(message, Exception):
        answer.set_exception(message)
    else:
        answer.set_result(message)


def _death(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        try:
            return f"was killed by {signal.Signals(-exitcode).name}"
        except ValueError:
            return f"was killed by signal {-exitcode}"
    return f"exited with code {exitcode}"
