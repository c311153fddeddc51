"""A command group that knows what a mistyped command was meant to be."""

from __future__ import annotations

from difflib import get_close_matches

import click

#: What people type who come from other tools.
_SYNONYMS = {"list": "ls", "jobs": "ls"}


class SuggestingGroup(click.Group):
    """Names the nearest command when there is none of that name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments begin with."""
        name = args[0]
        hint = None if ctx.resilient_parsing or name.startswith("-") else self._meant(ctx, name)
        if hint is not None:
            raise click.UsageError(f"No such command {name!r}; did you mean {hint}?", ctx)
        return super().resolve_command(ctx, args)

    def _meant(self, ctx: click.Context, name: str) -> str | None:
        known = self.list_commands(ctx)
        if name in known:
            return None
        synonym = _SYNONYMS.get(name)
        return synonym if synonym in known else next(iter(get_close_matches(name, known, 1)), None)
