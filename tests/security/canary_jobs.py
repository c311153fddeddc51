"""Jobs that put what they are given wherever a job can put something. The worker runs a copy of this file, jobs.py."""

from __future__ import annotations

import asyncio
import enum
import os
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from howdah import Backoff, Cancel, Fail, Howdah, JobContext, Retry

app = Howdah()
AT_ONCE = Backoff(base=timedelta(0))


class Mood(enum.Enum):
    CALM = "calm"


@dataclass
class Picky:
    """A type of the application's that refuses its value with an error of its own kind, and quotes it."""

    secret: str

    def __post_init__(self) -> None:
        if self.secret.endswith("!"):
            raise RuntimeError(f"cannot take {self.secret}")


class Mute(Exception):
    """An error that fails to describe itself, and quotes the secret in that."""

    def __init__(self, secret: str) -> None:
        super().__init__(secret)
        self.secret = secret

    def __str__(self) -> str:
        raise ValueError(self.secret)


@app.job()
async def answer(secret: str, result: str) -> dict[str, str]:
    return {"result": result}


@app.job()
def answer_in_thread(secret: str, result: str) -> dict[str, str]:
    return {"result": result}


@app.job(process=True)
def answer_in_child(ctx: JobContext, secret: str, result: str) -> dict[str, str]:
    ctx.event("said", {"secret": secret})
    return {"result": result}


@app.job()
async def publish(ctx: JobContext, secret: str) -> None:
    ctx.progress(50, stage="publishing")
    ctx.event("said", {"secret": secret})


@app.job(retry=AT_ONCE, max_attempts=2)
async def stumble(secret: str) -> None:
    raise ValueError(f"stumbled over {secret}")


@app.job(retry=AT_ONCE, max_attempts=2)
def stumble_in_thread(secret: str) -> None:
    try:
        raise KeyError(secret)
    except KeyError as error:
        raise LookupError(f"nothing under {secret}") from error


@app.job(retry=AT_ONCE, max_attempts=2, process=True)
def stumble_in_child(secret: str) -> None:
    raise ValueError(f"stumbled over {secret}")


@app.job(retry=AT_ONCE, max_attempts=1)
async def stay_mute(secret: str) -> None:
    raise Mute(secret)


@app.job(max_attempts=1)
async def exit_loudly(secret: str) -> None:
    raise SystemExit(secret)


@app.job()
async def give_up(secret: str) -> None:
    raise Fail(secret)


@app.job()
async def withdraw(secret: str) -> None:
    raise Cancel(secret)


@app.job(max_attempts=2)
async def ask_again(secret: str) -> None:
    raise Retry(secret, after=timedelta(0))


def _talkative(errors: int, error: BaseException) -> timedelta:
    raise RuntimeError(f"no policy for {error}")


@app.job(retry=_talkative, max_attempts=1)
async def break_policy(secret: str) -> None:
    raise ValueError(secret)


@app.job()
async def return_unencodable(secret: str) -> Any:
    return {secret: object()}


@app.job()
async def return_too_much(secret: str) -> str:
    return secret * 40_000


@app.job(max_attempts=1)
async def publish_unencodable(ctx: JobContext, secret: str) -> None:
    ctx.event("said", {secret: object()})


@app.job(max_attempts=1)
async def take_picky(value: Picky, mood: Mood = Mood.CALM) -> None: ...


@app.job(timeout=timedelta(milliseconds=100), max_attempts=1)
async def dawdle(secret: str) -> None:
    try:
        await asyncio.sleep(60)
    finally:
        raise ValueError(secret)


@app.job(timeout=timedelta(milliseconds=100), max_attempts=1)
def dawdle_in_thread(ctx: JobContext, secret: str) -> None:
    # Until its time is up, however late the worker notices: then nobody wants its error any more.
    while not ctx.lost:
        time.sleep(0.01)
    raise ValueError(secret)


@app.job(timeout=timedelta(milliseconds=100), max_attempts=1, process=True)
def dawdle_in_child(secret: str) -> None:
    time.sleep(60)


@app.job(max_attempts=1, process=True)
def die_in_child(secret: str) -> None:
    os._exit(3)


@app.job()
async def run_until_cancelled(secret: str) -> None:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError as error:
        raise asyncio.CancelledError(secret) from error


@app.job()
def survive(ctx: JobContext, secret: str) -> str:
    if ctx.attempt == 1:
        Path("draft").write_text(str(os.getpid()))
        Path("draft").rename("victim")
        time.sleep(600)
    return secret


@app.job()
async def be_refused(secret: str) -> dict[str, str]:
    return {"refused": secret}


@app.job()
async def set_off_trigger(secret: str) -> dict[str, str]:
    return {"trigger": secret}
