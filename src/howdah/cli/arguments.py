"""A job's arguments and times, as the command line takes them."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from typing import Any

import click

from howdah.client.definition import JobDefinition
from howdah.client.handle import Job
from howdah.model.errors import ArgumentError


def parse_arguments(text: str) -> dict[str, Any]:
    """An object of arguments by name; "-" reads it from stdin, being too long or too secret for a command line."""
    try:
        values = json.loads(sys.stdin.read() if text == "-" else text)
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"the arguments are no JSON: {error}; write '{{\"name\": value}}'") from None
    if not isinstance(values, dict):
        raise ArgumentError("the arguments are JSON, but no object; write '{\"name\": value}'")
    return values


def enqueue_with(definition: JobDefinition[..., Any], values: dict[str, Any]) -> Job[Any]:
    """Enqueue with arguments that came as JSON: a date is still a string, and becomes one as it would for a worker."""
    try:
        args, kwargs = definition.handler.signature.decode(values)
    except ArgumentError:
        # Enqueue refuses what does not fit as well, and says it to the one who asked rather than to a worker.
        args, kwargs = (), values
    return definition.enqueue(*args, **kwargs)


def run_time(text: str | datetime) -> datetime:
    """The type of an option that is a point in time."""
    if isinstance(text, datetime):
        return text
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is no time; write 2030-01-31T12:00Z") from None
    if time.tzinfo is None:
        raise click.BadParameter(f"{text!r} has no timezone; write {text}Z, or {text}+02:00")
    return time
