"""Jobs share tasks: no handler may notice."""

from __future__ import annotations

import asyncio
import contextvars
from collections import Counter
from datetime import timedelta

from howdah import Howdah, Job
from howdah.model.status import Status
from tests.rig.waiting import until_async
from tests.rig.working import working

name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="nobody")


async def ended(jobs: list[Job[None]]) -> list[Status]:
    return [(await job.await_(timeout=20)).status for job in jobs]


async def test_a_context_variable_that_a_job_sets_is_not_seen_by_the_next(app: Howdah) -> None:
    seen: list[str] = []

    @app.job()
    async def speak(n: int) -> None:
        seen.append(name.get())
        name.set(f"job {n}")

    jobs = await speak.aenqueue_many([{"n": n} for n in range(50)])
    async with working(app, concurrency=5):
        await ended(jobs)
    assert seen == ["nobody"] * 50


async def test_a_cancellation_that_a_job_leaves_behind_does_not_strike_the_next(app: Howdah) -> None:
    @app.job(max_attempts=1)
    async def cancels_itself() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()

    @app.job(max_attempts=1)
    async def waits() -> None:
        await asyncio.sleep(0.001)

    jobs: list[Job[None]] = []
    for _ in range(20):
        jobs += [await cancels_itself.aenqueue(), await waits.aenqueue()]
    async with working(app, concurrency=1):
        assert await ended(jobs) == [Status.COMPLETED] * 40


async def test_jobs_that_wait_do_not_hold_up_those_behind_them(app: Howdah) -> None:
    everybody = asyncio.Event()
    arrived: set[int] = set()

    @app.job()
    async def meet(n: int) -> None:
        arrived.add(n)
        if len(arrived) == 30:
            everybody.set()
        await everybody.wait()

    jobs = await meet.aenqueue_many([{"n": n} for n in range(30)])
    async with working(app, concurrency=30):
        assert await ended(jobs) == [Status.COMPLETED] * 30


async def test_a_flood_of_quick_jobs_leaves_the_event_loop_to_others(app: Howdah) -> None:
    turns = 0
    jobs_of_turn: Counter[int] = Counter()

    @app.job()
    async def quick(n: int) -> None:
        jobs_of_turn[turns] += 1
        # Busy for a moment, without ever waiting for anything.
        for _ in range(20_000):
            pass

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    jobs = await quick.aenqueue_many([{"n": n} for n in range(600)])
    counting = asyncio.create_task(count_turns())
    async with working(app, concurrency=600):
        await ended(jobs)
    counting.cancel()
    # Without turns of their own, others would run only when a whole batch is through.
    assert max(jobs_of_turn.values()) < 200


async def test_every_job_has_a_task_that_can_be_cancelled_alone(app: Howdah) -> None:
    started: set[int] = set()
    release = asyncio.Event()

    @app.job(timeout=timedelta(seconds=60))
    async def hang(n: int) -> None:
        async with asyncio.timeout(30):
            started.add(n)
            await release.wait()

    jobs = await hang.aenqueue_many([{"n": n} for n in range(8)])
    async with working(app, concurrency=8):
        await until_async(lambda: len(started) == 8, "all run")
        for job in jobs[::2]:
            await job.acancel()
        cancelled = await ended(jobs[::2])
        release.set()
        assert (cancelled, await ended(jobs[1::2])) == ([Status.CANCELLED] * 4, [Status.COMPLETED] * 4)
