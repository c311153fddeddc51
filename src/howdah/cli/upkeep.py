"""What `howdah up` keeps running side by side: the worker, the watch over the code, the dashboard. The first signal
stops all of them, the worker first, so that its last jobs can be seen to end; the second one hurries it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from howdah.app import Howdah
from howdah.cli.code_watch import code_changes
from howdah.cli.reloader import Reloader
from howdah.cli.supervised import Command
from howdah.cli.ui import DEFAULT_PORT
from howdah.model.errors import OptionError
from howdah.web.application import Dashboard
from howdah.web.serving import Beside, link_to, listen
from howdah.web.settings import Settings

HOST = "127.0.0.1"
Say = Callable[[str, str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to start. `port` None: the usual one, or any that is free."""

    command: Command
    roots: list[Path]
    port: int | None


async def keep_up(app: Howdah, plan: Plan, say: Say) -> None:
    """Until a signal."""
    listening = listen(HOST, plan.port) if plan.port is not None else _listen_somewhere()
    dashboard = Dashboard(app, Settings(), lambda link: say("dashboard", link))
    server = Beside(dashboard)
    reloader = Reloader(app, plan.command, lambda words: say("worker", words))
    take_signals(reloader, say)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    watching = asyncio.create_task(_watch(plan.roots, reloader, say))
    try:
        say("dashboard", link_to(dashboard, listening))
        await reloader.run()
    finally:
        reloader.stopping.set()
        server.should_exit = True
        await asyncio.gather(serving, watching, return_exceptions=True)
        await dashboard.aclose()
        listening.close()
        await app.aclose()
        say("stopped", "everything")


def take_signals(reloader: Reloader, say: Say) -> None:
    """The first one stops, the second hurries."""

    def told(number: signal.Signals) -> None:
        say(number.name, "stopping now" if reloader.stopping.is_set() else "stopping; once more to stop now")
        reloader.stop()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, told, number)


async def _watch(roots: list[Path], reloader: Reloader, say: Say) -> None:
    try:
        async for names in code_changes(roots, reloader.stopping):
            say("changed", listed(names))
            reloader.reload()
    except OSError as error:
        # Too many folders for the system's limit, as a rule. Everything else works on.
        say("changed", f"cannot watch the code, so nothing reloads: {error}; name fewer folders with --watch")


def listed(names: list[str]) -> str:
    """The first few files, as seen from here."""
    shown = ", ".join(os.path.relpath(name) for name in names[:3])
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown


def _listen_somewhere() -> socket.socket:
    with contextlib.suppress(OptionError):
        return listen(HOST, DEFAULT_PORT)
    return listen(HOST, 0)
