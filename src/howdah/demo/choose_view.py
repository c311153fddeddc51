"""Which view fits the place where the demo runs."""

from __future__ import annotations

import importlib.util
import os
import sys

from howdah.demo.plain_view import PlainView
from howdah.demo.view import View


def choose_view(*, plain: bool) -> View:
    """Live bars where there is a terminal and Rich is installed; otherwise lines."""
    # A terminal of another alphabet shows question marks rather than stopping the show.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    fit = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    if plain or not fit or importlib.util.find_spec("rich") is None:
        return PlainView()
    # Imported only here: Rich is an extra.
    from howdah.demo.live_view import LiveView

    return LiveView()
