"""Which database a command works on: --url, else HOWDAH_URL, else the embedded one of this folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import click

from howdah.app import EMBEDDED_FOLDER, Howdah
from howdah.db.catalog import DEFAULT_SCHEMA
from howdah.model.errors import DatabaseUnavailable, OptionError

C = TypeVar("C", bound=Callable[..., object])


def database_options(command: C) -> C:
    """--url and --schema."""
    command = click.option("--schema", help="The schema that holds Howdah's tables.  [default: howdah]")(command)
    return click.option(
        "--url",
        metavar="URL",
        help="The database; else HOWDAH_URL, else the embedded PostgreSQL under ./.howdah.",
    )(command)


@contextmanager
def opened(url: str | None, schema: str | None, *, create: bool = False) -> Iterator[Howdah]:
    """An app without job types on that database, given back at the end. An embedded server that does not exist yet is
    made only with `create`: a command that looks must not leave a server behind."""
    check_url(url)
    embedded = url is None and not os.environ.get("HOWDAH_URL")
    if embedded and not create and not Path(EMBEDDED_FOLDER).is_dir():
        raise DatabaseUnavailable(
            f"there is no database: set HOWDAH_URL, or start one in ./{EMBEDDED_FOLDER} with `howdah db start`"
        )
    app = Howdah(url, schema=schema or DEFAULT_SCHEMA)
    try:
        yield app
    finally:
        app.close()


def check_url(url: str | None) -> None:
    """Refuse an empty --url: it is a shell variable that was not set, and another database would be used in silence."""
    if url is not None and not url.strip():
        raise OptionError("--url is empty; write postgresql://user@host/database, or leave it out")
