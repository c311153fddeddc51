"""Every value as an option: it fits, or one typed error says so."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from howdah import Backoff, Howdah, JobContext, OptionError, Retry, Snooze, WorkerSettings
from howdah.client.client import _pauses
from howdah.model.errors import HowdahError, shown
from howdah.model.job_id import as_job_id, new_job_id
from howdah.model.options import JobOptions
from howdah.payload.json_text import to_json
from tests.corpus.corpus import strings, values

INPUTS: tuple[Any, ...] = (*values(), *strings()[::5], timedelta(0), timedelta(1), -timedelta(1), new_job_id())
app = Howdah("postgresql:///nowhere")


def context() -> JobContext:
    return JobContext(new_job_id(), "x", "default", 1, 3, lambda value: to_json(value, what="an event"))


OPTIONS: dict[str, Callable[[Any], object]] = {
    "priority": lambda value: JobOptions(priority=value),
    "max_attempts": lambda value: JobOptions(max_attempts=value),
    "queue": lambda value: JobOptions(queue=value),
    "delay": lambda value: JobOptions(delay=value),
    "run_at": lambda value: JobOptions(run_at=value),
    "job id": as_job_id,
    "job type": lambda value: Howdah("postgresql:///nowhere").job(name=value)(lambda: None),
    "unknown job type": app.definition,
    "timeout": lambda value: app.job(timeout=value),
    "retry policy": lambda value: app.job(retry=value),
    "backoff": lambda value: Backoff(base=value),
    "Retry": lambda value: Retry(after=value),
    "Snooze": Snooze,
    "concurrency": lambda value: WorkerSettings(concurrency=value),
    "queue of a worker": lambda value: WorkerSettings(queues={"default": value}),
    "silence": lambda value: WorkerSettings(silence=value),
    "grace": lambda value: WorkerSettings(grace=value),
    "worker name": lambda value: WorkerSettings(name=value),
    "progress": lambda value: context().progress(value),
    "stage": lambda value: context().progress(1, stage=value),
    "time to wait": lambda value: next(_pauses(new_job_id(), value)),
    "event": lambda value: context().event(value),
    "event data": lambda value: context().event("x", value),
}


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_fits_or_is_refused_with_one_typed_error(option: str) -> None:
    accepted = refused = longest = 0
    for value in INPUTS:
        try:
            OPTIONS[option](value)
            accepted += 1
        except HowdahError as error:
            refused += 1
            longest = max(longest, len(str(error)))
    assert accepted + refused == len(INPUTS)
    assert longest < 2000
    assert accepted > 0 or option == "unknown job type"
    assert refused > 0 or option == "stage"


def test_an_error_quotes_whatever_it_is_about() -> None:
    assert max(len(shown(value)) for value in INPUTS) <= 120
    with pytest.raises(OptionError, match="a value of type int"):
        JobOptions(priority=10**5000)
