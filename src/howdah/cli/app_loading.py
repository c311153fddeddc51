"""Finds the app that the user names: package.module:variable, seen from the current directory."""

from __future__ import annotations

import os
import sys
import sysconfig
import traceback
from importlib import import_module
from types import ModuleType

import howdah
from howdah.app import Howdah
from howdah.cli.database import check_url
from howdah.model.errors import AppNotFound

_OURS = os.path.dirname(os.path.abspath(howdah.__file__))
_LIBRARIES = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}


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
    if "/" in module_name or os.path.isfile(module_name):
        raise AppNotFound(f"{reference!r} names a file, not a module{_as_module(module_name, variable)}")
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
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "importlib" not in frame.filename and not _within(frame.filename, _OURS)
    ]
    # An app may itself be installed among the libraries; then its line is the last that is not ours.
    own = [frame for frame in frames if not any(_within(frame.filename, folder) for folder in _LIBRARIES)] or frames
    place = f" ({os.path.relpath(own[-1].filename)}, line {own[-1].lineno})" if own else ""
    return f"{type(error).__name__}: {error}{place}"


def _within(filename: str, folder: str) -> bool:
    return filename.startswith(folder + os.sep)


def _as_module(path: str, variable: str) -> str:
    """How to name the app in a file, where that can be told."""
    inside = os.path.relpath(path).removesuffix(".py")
    parts = inside.split(os.sep)
    if not all(part.isidentifier() for part in parts):
        return "; write package.module:variable, seen from the current directory"
    return f"; did you mean {'.'.join(parts)}:{variable}?"


def _not_an_app(reference: str, module: ModuleType, found: object) -> str:
    apps = sorted(name for name, value in vars(module).items() if isinstance(value, Howdah))
    hint = f"; it has: {', '.join(f'{module.__name__}:{name}' for name in apps)}" if apps else ""
    if found is None:
        return f"module {module.__name__!r} has no {reference.partition(':')[2]!r}{hint}"
    return f"{reference} is a {type(found).__name__}, not a Howdah app{hint}"
