"""Howdah: a job queue that rides on PostgreSQL.

The public names. Each is imported when it is first used, so that `howdah --help` does not load a database driver.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from howdah.app import Howdah
    from howdah.client.definition import JobDefinition
    from howdah.client.handle import Job
    from howdah.model.context import JobContext
    from howdah.model.errors import (
        ArgumentError,
        DatabaseUnavailable,
        HowdahError,
        JobCancelled,
        JobFailed,
        JobNotFound,
        KeyMissing,
        LeaseLost,
        OptionError,
        PayloadError,
        ResultNotReady,
        SchemaMissing,
        SchemaTooNew,
        SchemaTooOld,
        SealBroken,
        UserError,
        WaitTimeout,
    )
    from howdah.model.job import (
        JobEvent,
        JobRecord,
    )
    from howdah.model.job_id import new_job_id
    from howdah.model.outcome import (
        Cancel,
        Fail,
        Retry,
        Snooze,
    )
    from howdah.model.priority import Priority
    from howdah.model.retry import Backoff
    from howdah.model.status import Status
    from howdah.model.update import Update
    from howdah.model.worker_settings import WorkerSettings
    from howdah.sealing.keyring import Keyring
    from howdah.telemetry.log_context import JobLogFilter
    from howdah.watch.stream import Watch
    from howdah.web.access import User
    from howdah.web.application import dashboard
    from howdah.worker.worker import Worker

_HOMES = {
    "ArgumentError": "howdah.model.errors",
    "Backoff": "howdah.model.retry",
    "Cancel": "howdah.model.outcome",
    "DatabaseUnavailable": "howdah.model.errors",
    "Fail": "howdah.model.outcome",
    "Howdah": "howdah.app",
    "HowdahError": "howdah.model.errors",
    "Job": "howdah.client.handle",
    "JobCancelled": "howdah.model.errors",
    "JobContext": "howdah.model.context",
    "JobDefinition": "howdah.client.definition",
    "JobEvent": "howdah.model.job",
    "JobFailed": "howdah.model.errors",
    "JobLogFilter": "howdah.telemetry.log_context",
    "JobNotFound": "howdah.model.errors",
    "JobRecord": "howdah.model.job",
    "KeyMissing": "howdah.model.errors",
    "Keyring": "howdah.sealing.keyring",
    "LeaseLost": "howdah.model.errors",
    "OptionError": "howdah.model.errors",
    "PayloadError": "howdah.model.errors",
    "Priority": "howdah.model.priority",
    "ResultNotReady": "howdah.model.errors",
    "Retry": "howdah.model.outcome",
    "SchemaMissing": "howdah.model.errors",
    "SchemaTooNew": "howdah.model.errors",
    "SchemaTooOld": "howdah.model.errors",
    "SealBroken": "howdah.model.errors",
    "Snooze": "howdah.model.outcome",
    "Status": "howdah.model.status",
    "Update": "howdah.model.update",
    "User": "howdah.web.access",
    "UserError": "howdah.model.errors",
    "WaitTimeout": "howdah.model.errors",
    "Watch": "howdah.watch.stream",
    "Worker": "howdah.worker.worker",
    "WorkerSettings": "howdah.model.worker_settings",
    "dashboard": "howdah.web.application",
    "new_job_id": "howdah.model.job_id",
}

__all__ = [
    "ArgumentError",
    "Backoff",
    "Cancel",
    "DatabaseUnavailable",
    "Fail",
    "Howdah",
    "HowdahError",
    "Job",
    "JobCancelled",
    "JobContext",
    "JobDefinition",
    "JobEvent",
    "JobFailed",
    "JobLogFilter",
    "JobNotFound",
    "JobRecord",
    "KeyMissing",
    "Keyring",
    "LeaseLost",
    "OptionError",
    "PayloadError",
    "Priority",
    "ResultNotReady",
    "Retry",
    "SchemaMissing",
    "SchemaTooNew",
    "SchemaTooOld",
    "SealBroken",
    "Snooze",
    "Status",
    "Update",
    "User",
    "UserError",
    "WaitTimeout",
    "Watch",
    "Worker",
    "WorkerSettings",
    "dashboard",
    "new_job_id",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("howdah")
    if name not in _HOMES:
        raise AttributeError(f"module 'howdah' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
