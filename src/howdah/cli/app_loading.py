"""Finds the app that the user names: package.module:variable, seen from the current directory."""

from __future__ import annotations

import os
import sys
import traceback
from importlib import import_module
from types import ModuleType

from howdah.app import Howdah
from howdah.cli.database import check_url
from howdah.model.errors import AppNotFound


def load_app(reference: str, url: str | None = None, schema: str | None = None) -> Howdah:
    """The app, on the database given with --url if there is one."""
    check_url(url)
    if url is not None:
        # Before the import, and in the environment, so that whatever the app starts (child processes, a second app)
        # uses the same database.
        os.environ["HOWDAH_URL"] = url
    module_name, colon, variable = reference.partition(":")
    if not colon or not module_name or not variable:
        raise AppNotFound(f"{reference!r} names no app; write package.module:variable, such as mypkg.jobs:app")
    module = _import(module_name)
    app: object = module
    for name in variable.split("."):
        app = getattr(app, name, None)
    if not isinstance(app, Howdah):
        raise AppNotFound(_not_an_app(reference, module, app))
    if url is not None or schema is not None:
        app.move_to(url if url is not None else app.url_in_code, schema if schema is not None else app.catalog.schema)
    return app


def _import(name: str) -> ModuleType:
    here = os.getcwd()
    if here not in sys.path:
        # The `howdah` script, unlike `python -m howdah`, does not have it.
        sys.path.insert(0, here)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            raise AppNotFound(f"there is no module {error.name!r}, seen from {here}") from error
        raise AppNotFound(f"cannot import {name}: {_in_one_line(error)}") from error
    except Exception as error:
        raise AppNotFound(f"cannot import {name}: {_in_one_line(error)}") from error


def _in_one_line(error: Exception) -> str:
    """What went wrong and, as far as is known, in which line of the user's code."""
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    place = f" ({os.path.relpath(frames[-1].filename)}, line {frames[-1].lineno})" if len(frames) > 1 else ""
    return f"{type(error).__name__}: {error}{place}"


def _not_an_app(reference: str, module: ModuleType, found: object) -> str:
    apps = sorted(name for name, value in vars(module).items() if isinstance(value, Howdah))
    hint = f"; it has: {', '.join(f'{module.__name__}:{name}' for name in apps)}" if apps else ""
    if found is None:
        return f"module {module.__name__!r} has no {reference.partition(':')[2]!r}{hint}"
    return f"{reference} is a {type(found).__name__}, not a Howdah app{hint}"
