"""`howdah completion`: what a shell needs to complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_USE = {
    "bash": 'eval "$(howdah completion bash)"',
    "zsh": 'eval "$(howdah completion zsh)"',
    "fish": "howdah completion fish | source",
}


@click.command()
@click.argument("shell", type=click.Choice(list(_USE)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what a shell needs to complete commands.

    \b
    bash: eval "$(howdah completion bash)"       in ~/.bashrc
    zsh:  eval "$(howdah completion zsh)"        in ~/.zshrc, after compinit
    fish: howdah completion fish | source        in ~/.config/fish/config.fish
    """
    found = get_completion_class(shell)
    assert found is not None, "click knows all three"
    click.echo(found(context.find_root().command, {}, "howdah", "_HOWDAH_COMPLETE").source())
