"""`howdah db`: the private PostgreSQL of this folder."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from howdah.cli.output import print_fields
from howdah.cli.suggesting_group import SuggestingGroup
from howdah.embedded.binaries import all_binaries
from howdah.embedded.server import EmbeddedServer, Status
from howdah.model.errors import EmbeddedError

_PLACES = ("url", "folder", "data", "log")


def folder_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--folder",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path(".howdah"),
        show_default=True,
        help="Where the server keeps its data.",
    )(command)


@click.group(cls=SuggestingGroup)
def db() -> None:
    """Start, stop and look at a private PostgreSQL for development."""


@db.command()
@folder_option
@click.option("--stay/--no-stay", default=True, show_default=True, help="Go on when its last user has left.")
def start(folder: Path, stay: bool) -> None:
    """Start the server and print its URL. With --no-stay, hold it until Ctrl-C."""
    server = EmbeddedServer(folder)
    click.echo(server.start(stay=stay))
    if not stay:
        click.echo("howdah: holding the server; Ctrl-C lets go", err=True)
        try:
            signal.sigwait({signal.SIGINT, signal.SIGTERM})
        finally:
            server.release()


@db.command()
@folder_option
def stop(folder: Path) -> None:
    """Stop the server now, whoever uses it."""
    stopped = EmbeddedServer(folder).stop()
    click.echo("stopped" if stopped else "was not running", err=True)


@db.command()
@folder_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def status(folder: Path, as_json: bool) -> None:
    """Say whether the server runs, and where everything is."""
    found = EmbeddedServer(folder).status()
    if as_json:
        click.echo(json.dumps(asdict(found)))
    else:
        print_fields([("server", in_words(found)), *((name, getattr(found, name)) for name in _PLACES)])


def in_words(found: Status) -> str:
    """Whether the server runs, and until when."""
    if not found.running:
        return "not running"
    who = "running" if found.pid is None else f"running, process {found.pid}"
    if found.stays:
        return f"{who}, until `howdah db stop`"
    if found.has_keeper:
        return f"{who}, until its last user has left"
    return f"{who}, but its keeper is gone: nothing stops it when its last user has left; `howdah db stop` does"


@db.command()
@folder_option
@click.option("--dbname", default="howdah", show_default=True)
def url(folder: Path, dbname: str) -> None:
    """Print the URL; the server need not run."""
    click.echo(EmbeddedServer(folder).url(dbname))


@db.command(context_settings={"ignore_unknown_options": True})
@folder_option
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def psql(folder: Path, arguments: tuple[str, ...]) -> None:
    """Open psql on the running server; ARGUMENTS go to psql."""
    server = EmbeddedServer(folder)
    if not server.status().running:
        raise EmbeddedError("the server does not run; start it with `howdah db start`")
    program = find_psql()
    os.execv(program, [program, "--dbname", server.url(), *arguments])  # noqa: S606 - psql takes over the terminal


def find_psql() -> str:
    for binaries in all_binaries():
        if os.access(binaries.program("psql"), os.X_OK):
            return str(binaries.program("psql"))
    on_path = shutil.which("psql")
    if on_path is None:
        raise EmbeddedError("no psql found; install the PostgreSQL client, or use `howdah db url` with another")
    return on_path
