"""docs/cli.md is true: every command has its section, with every option it has and no other, and the exit codes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from howdah.cli.main import COMMANDS, main

MANUAL = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
#: These have pages of their own.
ELSEWHERE = {"db", "demo", "doctor"}
#: Sections that hold for many commands.
SHARED = ("What all commands have in common", "Filters")
#: Commands whose answer is JSON anyway, is for a shell, is a log, or is a screen or a page.
WITHOUT_JSON = {"completion", "export", "worker", "demo", "top", "ui", "up"}
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def sections() -> dict[str, str]:
    parts = re.split(r"^## ", MANUAL, flags=re.MULTILINE)[1:]
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


def section_of(name: str) -> str:
    found = [text for head, text in sections().items() if re.search(rf"^howdah (.*, )?{name}(,|$)", head)]
    assert len(found) == 1, f"docs/cli.md has {len(found)} sections for `howdah {name}`"
    return found[0]


def commands_of(name: str) -> Iterator[click.Command]:
    """The command and those below it."""
    command = main.get_command(click.Context(main), name)
    assert command is not None
    yield command
    if isinstance(command, click.Group):
        yield from command.commands.values()


def spellings_of(name: str) -> set[tuple[str, ...]]:
    """Its options, each with every way to write it."""
    options = [option for command in commands_of(name) for option in command.params if isinstance(option, click.Option)]
    return {
        tuple(word for word in (*option.opts, *option.secondary_opts) if word.startswith("--")) for option in options
    }


def options_of(name: str) -> set[str]:
    return {word for words in spellings_of(name) for word in words}


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - ELSEWHERE))
def test_a_command_and_its_section(name: str) -> None:
    shared = " ".join(text for head, text in sections().items() if head in SHARED)
    text = section_of(name)
    named = set(OPTION.findall(text + shared))
    missing = [words for words in spellings_of(name) if not named.intersection(words)]
    assert missing == [], f"docs/cli.md does not name these options of `howdah {name}`"


def test_no_section_names_an_option_that_is_not_there() -> None:
    everywhere = set.union(*(options_of(name) for name in COMMANDS)) | {"--help"}
    for head, text in sections().items():
        names = [name for name in COMMANDS if re.search(rf"^howdah (.*, )?{name}(,|$)", head)]
        known = everywhere if head in SHARED or not names else set.union(*(options_of(name) for name in names))
        # `ls --counts`, `migrate --check`: another command's, and named with it.
        quoted = {word for other, word in re.findall(r"`(?:howdah )?([a-z]+) (--[a-z-]+)", text) if other in COMMANDS}
        strange = set(OPTION.findall(text)) - known - {word for word in quoted if word in everywhere}
        assert strange == set(), f"docs/cli.md, {head}"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_whatever_prints_something_prints_json(name: str) -> None:
    for command in commands_of(name):
        has = any("--json" in option.opts for option in command.params)
        group = isinstance(command, click.Group) and not command.invoke_without_command
        assert has or group or name in WITHOUT_JSON or command.name in ("psql", "url", "start", "stop"), command.name


def test_the_exit_codes_of_commands_are_in_the_table() -> None:
    table = re.findall(r"^\| (\d+) \|", MANUAL, re.MULTILINE)
    assert table[:4] == ["0", "1", "2", "130"]
    for name in COMMANDS:
        for command in commands_of(name):
            told = set(re.findall(r"[Ee]xit (?:code )?(\d+)", command.help or ""))
            assert told <= set(table), command.name
