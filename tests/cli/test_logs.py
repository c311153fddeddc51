from __future__ import annotations

import json
import logging
import sys

import pytest

from howdah.cli.logs import ConsoleFormatter, JsonFormatter, LogFormat, set_up_logs


def make_record(message: str, **extra: object) -> logging.LogRecord:
    return logging.getLogger("howdah.worker").makeRecord(
        "howdah.worker", logging.WARNING, "file", 1, message, (), None, extra=extra
    )


def test_console_is_time_level_message_and_fields() -> None:
    line = ConsoleFormatter().format(make_record("job lost", job_id="0193", job_types=["a", "b"], stage="two words"))
    assert line.split(" ", 2)[2] == 'warning job lost job_id=0193 job_types=a,b stage="two words"'


def test_json_is_one_object_with_the_fields() -> None:
    entry = json.loads(JsonFormatter().format(make_record("a\nb", job_id="0193", queues=["x"], odd=object)))
    assert {
        "level": "warning",
        "logger": "howdah.worker",
        "message": "a\nb",
        "job_id": "0193",
        "queues": ["x"],
    }.items() <= (entry.items())
    assert entry["time"].endswith("+00:00")


@pytest.mark.parametrize("formatter", [ConsoleFormatter(), JsonFormatter()])
def test_a_line_stays_a_line(formatter: logging.Formatter) -> None:
    assert "\n" not in formatter.format(make_record("one\ntwo", note="three\nfour"))


@pytest.mark.parametrize("formatter", [ConsoleFormatter(), JsonFormatter()])
@pytest.mark.parametrize("odd", ["\x1b[31mred", "a\rb", "\x9b2J", "\x00", "\u202e"])
def test_a_log_holds_nothing_that_a_terminal_would_obey(formatter: logging.Formatter, odd: str) -> None:
    line = formatter.format(make_record(f"retry policy of {odd}", job_type=odd, note=f"{odd} {odd}", queues=[odd, "x"]))
    assert line.isprintable(), repr(line)


def test_a_traceback_is_kept() -> None:
    try:
        raise ValueError("seven")
    except ValueError:
        record = make_record("oh")
        record.exc_info = sys.exc_info()
    assert "ValueError: seven" in json.loads(JsonFormatter().format(record))["traceback"]
    assert "ValueError: seven" in ConsoleFormatter().format(record)


def test_one_of_several_workers_says_which_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    set_up_logs(LogFormat.JSON, False, worker=3)
    logging.getLogger("elsewhere").warning("oh", extra={"a": 1})
    assert {"message": "oh", "a": 1, "worker": 3}.items() <= json.loads(capsys.readouterr().err).items()
