"""What handlers return, raise and say: the job ends, the worker lives, and the neighbours notice nothing."""

from __future__ import annotations

from typing import Any

from howdah import Fail, Howdah, JobContext, OptionError, PayloadError
from howdah.payload.sanitise import clean_text
from tests.conftest import Database
from tests.corpus.corpus import strings, values
from tests.corpus.judging import CONTROL, fits, reading, same, storable
from tests.corpus.test_data import work_off

TEXTS = strings()
INPUTS: tuple[object, ...] = (*values(), *TEXTS)
ERROR_LIMIT = 16_384


async def test_a_result_is_kept_as_it_is_or_fails_its_job_alone(app: Howdah, database: Database) -> None:
    @app.job()
    async def give(n: int) -> Any:
        return INPUTS[n]

    await give.aenqueue_many([{"n": n} for n in range(len(INPUTS))])
    with reading(database) as sql:
        await work_off(app, sql)
        query = "SELECT (data->>'n')::int, status, result, last_error, attempts FROM jobs"
        rows = sql.execute(query).fetchall()
    refused = 0
    for n, status, result, error, attempts in rows:
        assert attempts == 1
        if status == "failed":
            refused += 1
            assert result is None
            assert error.startswith("the result cannot be stored: the result of give: ")
            assert not CONTROL.search(error)
        else:
            assert status == "completed"
            if _is_plain(INPUTS[n]):
                assert same(INPUTS[n], result), f"came back as {result!r:.200}, not as {INPUTS[n]!r:.200}"
        if isinstance(INPUTS[n], str) and not storable(str(INPUTS[n])):
            assert status == "failed"
    assert 100 < refused < len(rows) / 2


def _is_plain(value: object) -> bool:
    """Whether JSON has this very value; dates, sets and the like are kept as they are read."""
    if isinstance(value, list | tuple):
        return not hasattr(value, "_fields") and all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(type(key) is str and _is_plain(item) for key, item in value.items())
    return type(value) in (str, int, float, bool, type(None))


class Odd(Exception):
    """An exception that cannot say what it is."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        raise RuntimeError(self.text)


async def test_an_error_text_is_kept_fit_to_read(app: Howdah, database: Database) -> None:
    kinds: list[type[Exception]] = [Fail, Fail, ValueError, Odd]

    @app.job(max_attempts=1)
    async def fail(n: int) -> None:
        raise kinds[n % 4](TEXTS[n])

    await fail.aenqueue_many([{"n": n} for n in range(len(TEXTS))])
    with reading(database) as sql:
        await work_off(app, sql)
        rows = sql.execute("SELECT (data->>'n')::int, status, last_error, attempts FROM jobs").fetchall()
    assert len(rows) == len(TEXTS)
    for n, status, error, attempts in rows:
        assert (status, attempts) == ("failed", 1)
        assert error
        assert not CONTROL.search(error), error[:200]
        assert len(error.encode()) <= ERROR_LIMIT
        if kinds[n % 4] is Fail:
            assert error == (clean_text(TEXTS[n], ERROR_LIMIT) or "Fail")
            if (
                TEXTS[n]
                and storable(TEXTS[n])
                and not CONTROL.search(TEXTS[n])
                and len(TEXTS[n].encode()) <= ERROR_LIMIT
            ):
                assert error == TEXTS[n]


async def test_stages_and_events_are_kept_or_refused_with_one_typed_error(app: Howdah, database: Database) -> None:
    refused: dict[int, Exception] = {}

    @app.job()
    async def speak(ctx: JobContext, n: int) -> None:
        ctx.progress(n % 101, stage=TEXTS[n])
        ctx.event("before")
        try:
            ctx.event(TEXTS[n], INPUTS[n])
        except Exception as error:
            refused[n] = error
        ctx.event("after", n)

    await speak.aenqueue_many([{"n": n} for n in range(len(TEXTS))])
    with reading(database) as sql:
        await work_off(app, sql)
        jobs = sql.execute("SELECT (data->>'n')::int, id, status, current_stage, events_count FROM jobs").fetchall()
        events: dict[Any, list[Any]] = {}
        for job_id, name, data in sql.execute("SELECT job_id, name, data FROM job_events ORDER BY seq").fetchall():
            events.setdefault(job_id, []).append((name, data))
    assert [error for error in refused.values() if type(error) not in (OptionError, PayloadError)] == []
    for n, job_id, status, stage, events_count in jobs:
        assert status == "completed"
        assert stage == TEXTS[n] if fits(TEXTS[n], 0, 100) else fits(stage, 0, 100)
        said = events[job_id]
        assert events_count == len(said) == (2 if n in refused else 3)
        assert (said[0], said[-1]) == (("before", None), ("after", n))
        if n not in refused:
            assert said[1][0] == TEXTS[n]
            assert not _is_plain(INPUTS[n]) or same(INPUTS[n], said[1][1])
