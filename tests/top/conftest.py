"""The live view on a database with a real worker beside it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from textual.pilot import Pilot

from howdah import Fail, Howdah, JobContext
from howdah.top.application import Top
from tests.rig.waiting import until_async


@dataclass
class Gates:
    """What the jobs of a test wait for: each step lets every running job come to that percentage."""

    percent: int = 0
    failing: bool = True
    moved: asyncio.Event = field(default_factory=asyncio.Event)

    def step(self, percent: int) -> None:
        self.percent = percent
        self.moved.set()
        self.moved = asyncio.Event()


@dataclass
class Stage:
    """An app with jobs that go on when the test says so."""

    app: Howdah
    gates: Gates
    film: Any
    broken: Any


@pytest.fixture
def stage(make_app: Callable[..., Howdah]) -> Stage:
    app, gates = make_app(), Gates()

    @app.job(queue="films")
    async def film(ctx: JobContext, title: str) -> None:
        while gates.percent < 100:
            moved = gates.moved
            ctx.progress(gates.percent, stage=f"scene {gates.percent}")
            await moved.wait()

    @app.job(queue="letters")
    async def broken(n: int) -> str:
        if gates.failing:
            raise Fail(f"no stamp on letter {n}")
        return "sent"

    return Stage(app, gates, film, broken)


@asynccontextmanager
async def shown(
    make_app: Callable[..., Howdah], size: tuple[int, int] = (80, 24), place: str = "test", **options: Any
) -> AsyncIterator[tuple[Top, Pilot[None]]]:
    """The view, once it has read everything."""
    top = Top(make_app(), place, **options)
    async with top.run_test(size=size, notifications=True) as pilot:
        await sees(top, lambda: top.looks > 0, "the first look")
        yield top, pilot


async def sees(top: Top, condition: Callable[[], bool], what: str) -> None:
    """Wait until the view shows it."""
    await until_async(condition, what)


def text_of(top: Top) -> str:
    """All that the four tables and the head say."""
    rows = [" ".join(cell.plain for cell in line.cells) for table in top.tables for line in table.lines]
    return "\n".join([str(top.head.render()), *rows])


def banner(top: Top) -> str:
    """What the banner says, if it is shown."""
    return str(top.banner.render()) if top.banner.has_class("shown") else ""
