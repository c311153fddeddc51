"""What a type checker sees: `enqueue` takes the handler's own parameters, less the context, and a job knows its result.

mypy checks this file with the rest (`make lint`). A wrong call carries an ignore with its error code: if it ever became
right, mypy would report the ignore as unused.
"""

from __future__ import annotations

from datetime import timedelta
from typing import assert_type

import pytest

from howdah import ArgumentError, Howdah, Job, JobContext, OptionError, Priority

app = Howdah("postgresql:///nowhere")


@app.job(priority=Priority.EXPLICIT, max_attempts=5, timeout=timedelta(minutes=10))
async def encode(ctx: JobContext, video: int, preset: str = "hd") -> dict[str, str]:
    ctx.progress(1, stage="encoding")
    return {"url": f"{video}{preset}"}


@app.job()
def add(a: int, b: int) -> int:
    return a + b


@app.job
async def bare(ctx: JobContext, n: int) -> str:
    return str(n)


def right_calls() -> None:
    assert_type(bare.enqueue(1), Job[str])
    assert_type(encode.enqueue(42, preset="4k"), Job[dict[str, str]])
    assert_type(add.enqueue(1, b=2).result, int)
    assert_type(add.using(priority=3, delay=timedelta(hours=1)).enqueue(1, 2), Job[int])
    assert_type(add.enqueue_many([{"a": 1, "b": 2}]), list[Job[int]])


async def right_async_calls() -> None:
    assert_type(await encode.aenqueue(42), Job[dict[str, str]])
    assert_type(await add.aenqueue(1, 2), Job[int])


def test_wrong_calls_are_wrong_for_the_type_checker_and_at_run_time() -> None:
    with pytest.raises(ArgumentError, match="video"):
        encode.enqueue("42")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="video"):
        encode.enqueue()  # type: ignore[call-arg]
    with pytest.raises(ArgumentError, match="nonsense"):
        encode.enqueue(42, nonsense=1)  # type: ignore[call-arg]
    with pytest.raises(OptionError, match="by name"):
        app.job("encode")  # type: ignore[call-overload]
    with pytest.raises(ArgumentError, match="b"):
        add.enqueue(1)  # type: ignore[call-arg]
    with pytest.raises(ArgumentError, match="nonsense"):
        add.using(nonsense=1)  # type: ignore[call-arg]


def test_a_decorated_function_can_still_be_called_as_it_is() -> None:
    assert add(2, b=3) == 5
    assert add.__name__ == "add"
