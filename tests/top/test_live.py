"""The live view beside a real worker: what it shows, and what its keys do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from textual.widgets import Static

from howdah import Howdah
from howdah.top.application import Top
from howdah.top.dialogs import Question, Sheet
from tests.rig.waiting import until_async
from tests.rig.working import working
from tests.top.conftest import Stage, sees, shown, text_of

Maker = Callable[..., Howdah]


def percent_shown(top: Top) -> str:
    return top.running.lines[0].cells[1].plain if top.running.lines else ""


async def is_asked(top: Top) -> None:
    await until_async(lambda: isinstance(top.screen, Question), "the question")


async def test_a_bar_moves_and_ends(stage: Stage, make_app: Maker) -> None:
    async with working(stage.app), shown(make_app) as (top, _):
        job = await stage.film.aenqueue("Metropolis")
        await sees(top, lambda: "scene 0" in text_of(top), "the job")
        assert percent_shown(top).endswith(" 0%")
        assert "█" not in percent_shown(top)
        stage.gates.step(50)
        await sees(top, lambda: percent_shown(top).endswith(" 50%"), "half of it")
        bar = percent_shown(top)
        assert 0.4 < bar.count("█") / (bar.count("█") + bar.count("░")) < 0.6
        assert "scene 50" in text_of(top)
        eta, ran = (top.running.lines[0].cells[n].plain for n in (3, 4))
        assert eta != "-"
        assert ran.endswith("s")
        stage.gates.step(100)
        await sees(top, lambda: not top.running.lines, "its end")
        assert (await job.arefresh()).status == "completed"


async def test_cancel_with_the_key(stage: Stage, make_app: Maker) -> None:
    async with working(stage.app), shown(make_app) as (top, pilot):
        job = await stage.film.aenqueue("Metropolis")
        await sees(top, lambda: bool(top.running.lines), "the job")
        await pilot.press("c")
        await is_asked(top)
        await pilot.press("n")
        await until_async(lambda: not isinstance(top.screen, Question), "the tables")
        assert (await job.arefresh()).record.cancel_requested_at is None
        await pilot.press("c")
        await is_asked(top)
        await pilot.press("y")
        await until_async(lambda: job.refresh().status == "cancelled", "cancelled")
        await sees(top, lambda: not top.running.lines, "its end")


async def test_retry_with_the_key_and_the_record_of_it(
    stage: Stage, make_app: Maker, sql: psycopg.Connection[Any]
) -> None:
    async with working(stage.app), shown(make_app) as (top, pilot):
        job = await stage.broken.aenqueue(7)
        await sees(top, lambda: "no stamp on letter 7" in text_of(top), "the failure")
        stage.gates.failing = False
        await pilot.press("4", "r")
        await is_asked(top)
        await pilot.press("y")
        await until_async(lambda: job.refresh().status == "completed", "the second run")
        await sees(top, lambda: not top.failures.lines, "no failure")
    audit = sql.execute("SELECT what, target FROM audit").fetchall()
    assert audit == [("retry", str(job.id))]


async def test_pause_and_resume(stage: Stage, make_app: Maker, sql: psycopg.Connection[Any]) -> None:
    async with working(stage.app), shown(make_app) as (top, pilot):
        await stage.film.aenqueue("Metropolis")
        await sees(top, lambda: any(line.key == "films" for line in top.queues.lines), "the queue")
        await pilot.press("1")
        for paused in (True, False):
            await pilot.press("p")
            await is_asked(top)
            await pilot.press("y")
            state = "paused" if paused else "open"
            await sees(top, lambda state=state: top.queues.lines[0].cells[-1].plain == state, state)  # type: ignore[misc]  # the default binds it
            assert sql.execute("SELECT count(*) FROM pauses").fetchone() == (int(paused),)
        stage.gates.step(100)


async def test_read_only_changes_nothing(stage: Stage, make_app: Maker, sql: psycopg.Connection[Any]) -> None:
    async with working(stage.app), shown(make_app, read_only=True) as (top, pilot):
        job = await stage.film.aenqueue("Metropolis")
        await sees(top, lambda: bool(top.running.lines), "the job")
        await pilot.press("c")
        await until_async(lambda: any("--read-only" in note.message for note in top._notifications), "the notice")
        assert not isinstance(top.screen, Question)
        assert "read-only" in text_of(top)
        assert (await job.arefresh()).record.cancel_requested_at is None
        stage.gates.step(100)


@pytest.mark.parametrize(("key", "words"), [("c", "Running (3)"), ("r", "Failures (4)"), ("p", "Queues (1)")])
async def test_a_key_in_the_wrong_table_says_where_it_works(make_app: Maker, key: str, words: str) -> None:
    async with shown(make_app) as (top, pilot):
        await pilot.press("2", key)
        await until_async(lambda: any(words in note.message for note in top._notifications), "the notice")


async def test_workers_with_load_memory_and_what_they_run(stage: Stage, make_app: Maker) -> None:
    async with working(stage.app, concurrency=7, name="studio"), shown(make_app, (160, 40)) as (top, _):
        await stage.film.aenqueue("Metropolis")
        await sees(top, lambda: [line.cells[4].plain for line in top.workers_table.lines] == ["film"], "what it runs")
        await sees(top, lambda: "1/7" in top.workers_table.lines[0].cells[2].plain, "its load")
        name, beat, _, memory, _ = (cell.plain for cell in top.workers_table.lines[0].cells)
        assert name.startswith("studio")
        assert beat.endswith("s")
        assert memory.endswith("M")
        stage.gates.step(100)


async def test_filter_by_a_part_and_by_conditions(make_app: Maker, sql: psycopg.Connection[Any]) -> None:
    for name, error in (("encode", "timed out"), ("mail", "no such host")):
        sql.execute(
            "INSERT INTO jobs (job_type, queue, status, completed_at, last_error) VALUES (%s, %s, 'failed', now(), %s)",
            (name, name, error),
        )

    async with shown(make_app) as (top, pilot):
        assert len(top.failures.lines) == 2
        await pilot.press("slash", *"TIMED")
        await sees(top, lambda: len(top.failures.lines) == 1, "one failure")
        await pilot.press("enter")
        assert top.focused is top.running
        assert "filter: TIMED" in text_of(top)
        await pilot.press("escape")
        await sees(top, lambda: len(top.failures.lines) == 2, "all failures")
        await pilot.press("slash", *"error~host")
        await sees(top, lambda: [line.cells[1].plain for line in top.failures.lines] == ["mail"], "mail")
        await pilot.press("escape", "slash", *"staus=failed", "enter")
        await until_async(
            lambda: any("there is no field 'staus'" in note.message for note in top._notifications), "the refusal"
        )
        assert top.field.has_focus


async def test_help_and_particulars(make_app: Maker, sql: psycopg.Connection[Any]) -> None:
    error = 'Traceback\n  File "x.py"\nValueError: \x1b[31mred\x1b[0m [bold]not markup[/]'
    sql.execute(
        "INSERT INTO jobs (job_type, data, status, completed_at, last_error)"
        " VALUES ('encode', %s, 'failed', now(), %s)",
        ('{"film": 42}', error),
    )
    async with shown(make_app) as (top, pilot):
        await pilot.press("question_mark")
        await until_async(lambda: isinstance(top.screen, Sheet), "the help")
        assert "cancel the chosen running job" in sheet_text(top)
        await pilot.press("escape", "4", "enter")
        await until_async(lambda: isinstance(top.screen, Sheet) and "encode" in sheet_text(top), "the job")
        for words in ('"film": 42', "ended as failed", "[bold]not markup[/]", "Traceback"):
            assert words in sheet_text(top)
        assert "\x1b" not in sheet_text(top)
        assert "\x1b" not in text_of(top)


def sheet_text(top: Top) -> str:
    return "\n".join(
        "\n".join(str(part) for part in found.content.renderables)  # type: ignore[union-attr]  # a sheet holds a group
        for found in top.screen.query(Static)
    )
