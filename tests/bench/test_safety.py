"""A bench harms nothing, clears up, and finds out what is wrong."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from howdah.bench import draining, store
from howdah.bench.board import Board, uncounted
from howdah.bench.flowing import PLACES
from howdah.bench.jobs import app
from howdah.bench.outcome import Outcome
from howdah.bench.pins import HELD_PLACE, held
from howdah.bench.processes import Child
from howdah.bench.programme import SCENARIOS
from howdah.bench.settings import PINS, TOGETHER
from howdah.bench.stage import MARK, Stage
from tests.bench.conftest import BenchAnswer, command, environment
from tests.conftest import Database
from tests.rig.waiting import until

Bench = Callable[..., BenchAnswer]


def schemas(sql: psycopg.Connection[Any]) -> set[str]:
    query = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'howdah%' OR nspname = 'mine'"
    return {str(row[0]) for row in sql.execute(query)}


def test_a_job_that_ran_twice_is_found_out(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    waited = draining.wait_completed

    def tamper(place: Stage, ids: Sequence[UUID], worker: Child) -> float:
        end = waited(place, ids, worker)
        app.get(ids[7]).retry()
        until(lambda: boards[0].counts[7] == 2, "the job has run again")
        waited(place, ids, worker)
        return end

    boards: list[Board] = []
    made = Stage.board

    def remember(place: Stage, jobs: int, stamps: int = 1) -> Board:
        boards.append(made(place, jobs, stamps))
        return boards[-1]

    monkeypatch.setattr(Stage, "board", remember)
    monkeypatch.setattr(draining, "wait_completed", tamper)
    drained = draining.drain(stage, 50)
    assert drained.troubles == [
        "of 50 jobs, 0 ran too seldom and 1 too often",
        "the table has 50 of 50 jobs, 50 completed, 49 at their first attempt",
    ]


def test_a_wrong_result_is_one_line_and_exit_code_1(bench_here: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(place: Stage) -> Outcome:
        outcome = Outcome("drain", {})
        board = place.board(3)
        board.counts[0] = 1
        outcome.troubles = uncounted(board, 3)
        return outcome

    monkeypatch.setitem(SCENARIOS, "drain", wrong)
    answer = bench_here("drain")
    assert answer.code == 1
    lines = [line for line in answer.err.splitlines() if line.startswith("howdah: ")]
    assert lines == ["howdah: drain: WRONG: of 3 jobs, 2 ran too seldom and 0 too often"]


def test_a_schema_of_somebody_else_is_refused(bench_here: Bench, sql: psycopg.Connection[Any]) -> None:
    sql.execute("CREATE SCHEMA mine")
    sql.execute("CREATE TABLE mine.precious (n int)")
    for schema in ("mine", "howdah"):
        answer = bench_here("drain", "--jobs", 10, "--schema", schema)
        assert answer.code == 2, answer
        assert answer.err.count("\n") == 1
        assert "--schema" in answer.err
    assert sql.execute("SELECT count(*) FROM mine.precious").fetchone() == (0,)
    assert schemas(sql) == {"howdah", "mine"}


def test_two_at_once_are_refused(bench_here: Bench, stage: Stage) -> None:
    answer = bench_here("enqueue", "--jobs", 10)
    assert answer.code == 2
    assert "another bench is at work" in answer.err


def test_a_killed_bench_leaves_no_process_and_the_next_one_clears_up(
    database: Database, bench: Bench, sql: psycopg.Connection[Any], tmp_path: Path
) -> None:
    process = subprocess.Popen(
        command("sustained", "--seconds", 60),
        cwd=tmp_path,
        env=environment(database.url, tmp_path),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: "howdah_bench" in schemas(sql), "the schema is there")
        connected = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        until(lambda: _number(sql, connected) >= 5, "its processes are connected")
    finally:
        process.kill()
        process.wait()
    until(lambda: _number(sql, connected) == 0, "nobody of it is left")
    comment = sql.execute("SELECT obj_description('howdah_bench'::regnamespace, 'pg_namespace')").fetchone()
    assert comment == (MARK,)
    answer = bench("enqueue", "--jobs", 100, "--rounds", 1)
    assert answer.code == 0, answer
    assert "left by an earlier bench" in answer.err
    assert schemas(sql) == {"howdah"}


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("drian",), "there are: drain, sustained"),
        (("drain", "--jobs", "0"), "--jobs is 0"),
        (("drain", "--rounds", "0"), "--rounds is 0"),
        (("sustained", "--seconds", "-1"), "--seconds is -1"),
        (("idle", "--workers", "5000"), "use fewer --workers"),
        (("drain", "--quick"), "--quick goes with --goals"),
    ],
)
def test_mistakes(bench_here: Bench, arguments: tuple[str, ...], word: str) -> None:
    answer = bench_here(*arguments)
    assert answer.code == 2, answer
    assert word in answer.err
    assert answer.out == ""
    assert answer.err.count("howdah: ") == 1


@pytest.mark.parametrize("form", [*PINS, TOGETHER])
def test_every_form_of_pin_holds_a_snapshot(stage: Stage, sql: psycopg.Connection[Any], form: str) -> None:
    holds = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        " AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL) AND application_name LIKE 'howdah bench%'"
    )
    board = stage.board(1, PLACES)
    with held(form, stage, board) as beside:
        until(lambda: _number(sql, holds) == (len(PINS) if form == TOGETHER else 1), "a snapshot is held")
        if form in ("enqueued", TOGETHER):
            assert stage.run(store.check_everything())[0] == 0
            # Nobody works here: in a moment its job is taken for run.
            threading.Timer(0.3, board.stamp, (HELD_PLACE,)).start()
    assert beside.troubles == []
    until(lambda: _number(sql, holds) == 0, "it is let go")


def _number(sql: psycopg.Connection[Any], query: str) -> int:
    row = sql.execute(query.encode()).fetchone()
    assert row is not None
    return int(row[0])
