"""Durations on the command line."""

from __future__ import annotations

from datetime import timedelta

import click

from howdah.model.durations import parse_duration


def duration(value: str | timedelta) -> timedelta:
    """The type of an option whose value is a duration."""
    if isinstance(value, timedelta):
        return value
    try:
        return parse_duration(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
