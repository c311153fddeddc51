"""`howdah ui`: the dashboard in a browser, served by this process."""

from __future__ import annotations

import asyncio
import importlib.util
from importlib import import_module
from typing import TYPE_CHECKING

import click

from howdah.cli.app_loading import load_app
from howdah.cli.database import database_options, opened
from howdah.model.errors import OptionError

if TYPE_CHECKING:
    from howdah.app import Howdah
    from howdah.web.access import Authenticate

DEFAULT_PORT = 8800
_MODULES = ("starlette", "uvicorn", "jinja2")


@click.command()
@click.argument("app_name", metavar="[APP]", required=False)
@database_options
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True, help="0: any free one.")
@click.option("--prefix", default="", metavar="PATH", help="The path under which a proxy serves it, such as /jobs.")
@click.option(
    "--auth", "auth_name", metavar="MODULE:FUNCTION", help="Who is let in: (request) → howdah.User, or None to refuse."
)
@click.option("--read-only", is_flag=True, help="Change nothing, whoever asks.")
@click.option("--redact", multiple=True, metavar="FIELD", help="Hide this field's value, such as card.number.")
def ui(
    app_name: str | None,
    url: str | None,
    schema: str | None,
    host: str,
    port: int,
    prefix: str,
    auth_name: str | None,
    read_only: bool,
    redact: tuple[str, ...],
) -> None:
    """Watch the queue in a browser.

    Without --auth it listens on this machine only, and opens with a link that works once. APP is not needed: the
    dashboard shows whatever is in the database.
    """
    check_installed()
    from howdah.web.door import is_loopback

    if auth_name is None and not is_loopback(host):
        raise OptionError(
            f"--host {host} is open to other machines, and nobody would be asked who they are; "
            "name your own check with --auth module:function, or stay on 127.0.0.1 and use an SSH tunnel"
        )
    if prefix and (not prefix.startswith("/") or prefix.endswith("/")):
        raise OptionError(f"--prefix {prefix!r} must begin with a slash and not end with one, as in /jobs")
    auth = load_auth(auth_name) if auth_name is not None else None
    if app_name is not None:
        app = load_app(app_name, url, schema)
        try:
            run(app, auth, read_only, redact, (host, port, prefix))
        finally:
            app.close()
        return
    with opened(url, schema) as app:
        run(app, auth, read_only, redact, (host, port, prefix))


def check_installed() -> None:
    """Say which extra is missing, instead of a traceback."""
    missing = [name for name in _MODULES if importlib.util.find_spec(name) is None]
    if missing:
        raise OptionError(f"the dashboard needs {', '.join(missing)}: pip install 'howdah[ui]'")


def load_auth(reference: str) -> Authenticate:
    """The function that the user names."""
    module_name, colon, name = reference.partition(":")
    if not colon or not module_name or not name:
        raise OptionError(f"--auth {reference!r} names no function; write module:function")
    try:
        found = getattr(import_module(module_name), name, None)
    except ImportError as error:
        raise OptionError(f"--auth {reference!r}: {error}") from error
    if not callable(found):
        raise OptionError(f"--auth {reference!r}: {module_name} has no function {name!r}")
    check: Authenticate = found
    return check


def run(
    app: Howdah, auth: Authenticate | None, read_only: bool, redact: tuple[str, ...], place: tuple[str, int, str]
) -> None:
    """Serve until interrupted. The database is asked once before, so that a mistake is told here and not in a page."""
    from howdah.web.application import Dashboard
    from howdah.web.serving import serve
    from howdah.web.settings import read_settings

    app.sessions.url()
    settings = read_settings(auth, read_only, redact, "Howdah")
    asyncio.run(serve(Dashboard(app, settings, lambda link: click.echo(f"open  {link}")), *place, click.echo))
