"""How a worker logs: to stderr, as lines for people or as JSON for machines. Fields come from `extra`; nothing here, or
in the messages, ever holds a job's arguments."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial

from howdah.telemetry.log_context import JobLogFilter

#: What every record has; the rest of its attributes came with `extra`.
_STANDARD = frozenset(vars(logging.LogRecord("", 0, "", 0, "", None, None))) | {"message", "asctime", "taskName"}


class LogFormat(StrEnum):
    """How a line looks."""

    CONSOLE = "console"
    JSON = "json"


class ConsoleFormatter(logging.Formatter):
    """`time level message key=value ...`"""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line; a traceback, if there is one, on lines below it."""
        at = datetime.fromtimestamp(record.created).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
        words = [at, f"{record.levelname.lower():<7}", _visible(record.getMessage())]
        words += [f"{key}={_short(value)}" for key, value in extra_fields(record).items()]
        line = " ".join(words)
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonFormatter(logging.Formatter):
    """One object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as JSON: its own four keys, then those of `extra`."""
        entry: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **extra_fields(record),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry, default=str)


def extra_fields(record: logging.LogRecord) -> dict[str, object]:
    """What the caller passed as `extra`."""
    return {key: value for key, value in vars(record).items() if key not in _STANDARD}


def set_up_logs(log_format: LogFormat, verbose: bool, worker: int | None = None) -> None:
    """Everything at info and above to stderr; with `verbose`, Howdah's own debug lines too; every line with the number
    of the `worker`, where several write to one place. An app that sets up logging for itself when it is imported comes
    later, and wins."""
    handler = logging.StreamHandler()
    handler.addFilter(JobLogFilter())
    if worker is not None:
        handler.addFilter(partial(_with_worker, worker))
    handler.setFormatter(JsonFormatter() if log_format is LogFormat.JSON else ConsoleFormatter())
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    logging.getLogger("howdah").setLevel(logging.DEBUG if verbose else logging.INFO)


def _with_worker(worker: int, record: logging.LogRecord) -> bool:
    record.worker = worker
    return True


def _short(value: object) -> str:
    if isinstance(value, list | tuple):
        return _visible(",".join(map(str, value)) or "-")
    text = str(value)
    quoted = json.dumps(text, ensure_ascii=False) if not text or any(c in text for c in ' "\n=') else text
    return _visible(quoted)


def _visible(text: str) -> str:
    """One line, and nothing in it that a terminal would obey: a job type may hold any character."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
