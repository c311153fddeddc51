"""Howdah: a job queue that rides on PostgreSQL."""

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
    LeaseLost,
    OptionError,
    PayloadError,
    ResultNotReady,
    SchemaMissing,
    SchemaTooNew,
    SchemaTooOld,
    UserError,
    WaitTimeout,
)
from howdah.model.job import JobEvent, JobRecord
from howdah.model.outcome import Cancel, Fail, Retry, Snooze
from howdah.model.priority import Priority
from howdah.model.retry import Backoff
from howdah.model.status import Status
from howdah.model.worker_settings import WorkerSettings
from howdah.worker.worker import Worker

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
    "JobNotFound",
    "JobRecord",
    "LeaseLost",
    "OptionError",
    "PayloadError",
    "Priority",
    "ResultNotReady",
    "Retry",
    "SchemaMissing",
    "SchemaTooNew",
    "SchemaTooOld",
    "Snooze",
    "Status",
    "UserError",
    "WaitTimeout",
    "Worker",
    "WorkerSettings",
]
