"""Job ids on the command line."""

from __future__ import annotations

from uuid import UUID

import click


def job_id(value: str | UUID) -> UUID:
    """The type of an argument that is a job's id."""
    if isinstance(value, UUID):
        return value
    try:
        return UUID(value)
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is not a job id; ids look like 0193a0e4-7c1f-7e2a-9d3b-5f6a7b8c9d0e"
        ) from None
