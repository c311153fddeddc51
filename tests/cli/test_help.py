"""What can be known without a database."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from howdah.cli.main import COMMANDS, main
from tests.cli.conftest import Shell

COMMAND_MODULES = sorted({place.partition(":")[0] for place, _ in COMMANDS.values()})


def test_help_lists_every_command_and_imports_none() -> None:
    program = (
        "import sys, click\n"
        "from howdah.cli.main import main\n"
        "print(main.get_help(click.Context(main, info_name='howdah')))\n"
        f"sys.exit(', '.join(name for name in {COMMAND_MODULES} if name in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stderr.strip() == ""
    for name in COMMANDS:
        assert f"\n  {name} " in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_in_the_list_is_the_commands_own(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.name == name
    assert command.get_short_help_str(limit=200).rstrip(".") == COMMANDS[name][1].rstrip(".")


def test_bare_and_unknown(nowhere: Shell) -> None:
    bare = nowhere(script=True).must_work()
    assert "Commands:" in bare.out
    nowhere("zzz").must_be_refused("No such command 'zzz'", "howdah --help")
    assert "enqueue" in nowhere("enqueue", "-h").must_work().out
    group = nowhere("db")
    assert group.code == 2
    assert group.err.startswith("Usage: ")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("list", "ls"), ("lst", "ls"), ("jobs", "ls"), ("enque", "enqueue"), ("db strat", "start")],
)
def test_a_mistyped_command(nowhere: Shell, typed: str, meant: str) -> None:
    nowhere(*typed.split()).must_be_refused("No such command", f"did you mean {meant}?")
