"""A command group that imports a command only when it is run: `howdah --help` waits for no database driver."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from howdah.cli.suggesting_group import SuggestingGroup


class LazyGroup(SuggestingGroup):
    """Knows for each command where it is ("module:name") and its line of help, so that listing them imports nothing."""

    def __init__(self, *arguments: Any, places: Mapping[str, tuple[str, str]], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in order."""
        return sorted(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name not in self._places:
            return None
        module, _, name = self._places[cmd_name][0].partition(":")
        command = getattr(import_module(module), name)
        assert isinstance(command, click.Command), f"{module}:{name} is a command"
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in the help, from what is known without importing."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._places[name][1]) for name in self.list_commands(ctx)])
