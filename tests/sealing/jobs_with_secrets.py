"""Jobs that carry, publish, return and raise what they are given."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from howdah import Backoff, Cancel, Howdah, JobContext

app = Howdah("postgresql:///nowhere")
AT_ONCE = Backoff(base=timedelta(0))


@app.job(max_attempts=2, retry=AT_ONCE)
async def carry(ctx: JobContext, secret: str) -> dict[str, str]:
    ctx.event("carried", {"secret": secret})
    return {"secret": secret}


@app.job()
def carry_in_thread(ctx: JobContext, secret: str) -> str:
    ctx.event("carried", secret)
    return secret


@app.job(process=True)
def carry_in_child(ctx: JobContext, secret: str) -> list[str]:
    ctx.event("carried", [secret])
    return [secret]


@app.job(max_attempts=2, retry=AT_ONCE)
async def stumble(secret: str) -> None:
    raise ValueError(f"stumbled over {secret}")


@app.job()
async def withdraw(secret: str) -> None:
    raise Cancel(secret)


@app.job(timeout=timedelta(milliseconds=50), max_attempts=1, process=True)
def dawdle(secret: str) -> None:
    import time

    time.sleep(60)


@app.job()
async def take_anything(**values: Any) -> Any:
    return values


@app.job()
async def take_nothing() -> None: ...
