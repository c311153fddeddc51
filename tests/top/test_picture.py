"""The picture in the docs: drawn at every run, kept only on request (HOWDAH_DOC_PICTURES=1)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import psycopg
import pytest

from howdah import Fail, Howdah, JobContext
from howdah.top.application import Top
from tests.rig.waiting import until_async
from tests.rig.working import working
from tests.top.conftest import Gates, sees, shown, text_of

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "top.svg"
FILMS = {"Metropolis": 82, "Nosferatu": 64, "Faust": 41, "Sunrise": 17}
STAGES = {82: "muxing", 64: "second pass", 41: "first pass", 17: "probing"}


async def test_the_picture(make_app: Callable[..., Howdah], sql: psycopg.Connection[Any]) -> None:
    app, gates = make_app(), Gates()

    @app.job(queue="videos")
    async def encode_film(ctx: JobContext, percent: int) -> None:
        ctx.progress(percent, stage=STAGES[percent])
        await gates.moved.wait()

    @app.job(queue="mail")
    async def send_letter(n: int) -> None:
        if n % 50 == 3:
            raise Fail(f"SMTP 550: no such mailbox, letter {n}")

    sql.execute("INSERT INTO pauses (kind, name) VALUES ('queue', 'reports')")
    sql.execute("SELECT enqueue_job('monthly_report', p_queue => 'reports') FROM generate_series(1, 12)")
    async with working(app, name="studio-1", concurrency=4), shown(make_app, (100, 30), "shop on db-1") as (top, _):
        await send_letter.aenqueue_many([{"n": n} for n in range(120)])
        for percent in FILMS.values():
            await encode_film.aenqueue(percent)
        await sees(top, lambda: all(f"{percent}%" in text_of(top) for percent in FILMS.values()), "all films")
        await sees(top, lambda: len(top.failures.lines) == 3, "all failures")
        # What workers did is written down every ten seconds.
        await sees(top, lambda: any(share.work.ended >= 120 for share in top.source.snapshot.shares), "the figures")
        await until_async(lambda: "paused" in text_of(top), "the pause")
        await sees(top, lambda: "4/4" in text_of(top), "the worker's load")
        picture = drawn(top)
        gates.step(100)
    ElementTree.fromstring(picture)
    assert "encode_film" in picture
    assert not re.search(r"https?://(?!www\.w3\.org)", picture), "the picture asks nobody for anything"
    if os.environ.get("HOWDAH_DOC_PICTURES") == "1":
        PICTURE.parent.mkdir(exist_ok=True)
        PICTURE.write_text(picture)
    assert PICTURE.exists()


def drawn(top: Top) -> str:
    """The screen as SVG, in whatever font of equal widths the reader has: no font is fetched, no product named."""
    picture = top.export_screenshot(title="howdah top")
    picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)
    picture = re.sub(r"<!--.*?-->\s*", "", picture, flags=re.DOTALL)
    return re.sub(r"(?<=font-family: )Fira Code(?=, monospace)", "ui-monospace", picture)


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (160, 50)])
async def test_every_table_shows_lines_at_this_size(
    make_app: Callable[..., Howdah], sql: psycopg.Connection[Any], size: tuple[int, int]
) -> None:
    for n in range(20):
        sql.execute("SELECT enqueue_job('encode', p_queue => %s)", (f"queue-{n}",))
    sql.execute(
        "INSERT INTO jobs (job_type, status, completed_at, last_error)"
        " SELECT 'broken', 'failed', now(), 'it broke' FROM generate_series(1, 20)"
    )
    async with shown(make_app, size) as (top, pilot):
        await sees(top, lambda: len(top.queues.lines) >= 20, "the queues")
        for number, table in enumerate(top.tables, start=1):
            await pilot.press(str(number))
            await pilot.pause()
            for each in top.tables:
                assert each.size.width <= size[0]
                assert each.virtual_size.width <= each.size.width, f"{each.id} needs no sideways scrolling"
                # One line is the heads.
                assert each.scrollable_content_region.height >= 3, f"{each.id} beside {table.id}"
        assert top.screen.size.height == size[1]
