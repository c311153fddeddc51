"""The command group, and the one place where a user's mistake becomes one line and exit code 2."""

from __future__ import annotations

import sys

import click

from howdah.cli.db import db
from howdah.model.errors import HowdahError, UserError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="howdah")
def main() -> None:
    """Howdah: a job queue that rides on PostgreSQL."""


main.add_command(db)


def run() -> None:
    """Run the command line; errors that the user can mend are printed as one line."""
    try:
        main(standalone_mode=True)
    except UserError as error:
        click.echo(f"howdah: {error}", err=True)
        sys.exit(2)
    except HowdahError as error:
        click.echo(f"howdah: {error}", err=True)
        sys.exit(1)
