"""Reads Markdown pages: their code blocks, links, anchors and command lines.

What stands after the language of a block says what becomes of it:

    python            run, block after block, in one namespace per page
    python NAME.py    a file of the page; blocks with the same name are parts of one file
    python no-run     only compiled
    sql               run with psql, block after block, in one session
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^ *(?P<marks>`{3,})(?P<language>[^\s`]*) *(?P<mark>[^`]*)$")
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^()\s>]+)>?(?: \"[^\"]*\")?\)")
_INLINE_CODE = re.compile(r"(`+)(.+?)\1")
_HEADING = re.compile(r"^#{1,6} +(.*?) *#*$")


@dataclass(frozen=True)
class Block:
    """A fenced block; `line` is that of its first line of text."""

    page: Path
    line: int
    language: str
    mark: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page.name}:{self.line}"


def read_blocks(page: Path) -> list[Block]:
    """The fenced blocks, in order."""
    found: list[Block] = []
    opened: tuple[re.Match[str], int, list[str]] | None = None
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        fence = _FENCE.match(line)
        if opened is None:
            if fence is not None:
                opened = (fence, number + 1, [])
        elif fence is not None and line.strip() == opened[0]["marks"]:
            start = opened[0]
            found.append(Block(page, opened[1], start["language"], start["mark"].strip(), "\n".join(opened[2]) + "\n"))
            opened = None
        else:
            opened[2].append(line)
    assert opened is None, f"{page.name}:{opened[1]}: a block that does not end" if opened else ""
    return found


def prose_lines(page: Path) -> Iterator[tuple[int, str]]:
    """The numbered lines outside fenced blocks."""
    inside = {n for b in read_blocks(page) for n in range(b.line - 1, b.line + b.text.count("\n") + 1)}
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        if number not in inside:
            yield number, line


def all_pages(root: Path = ROOT) -> list[Path]:
    """Every Markdown page, but for those of installed packages."""
    return sorted(
        page
        for page in root.rglob("*.md")
        if not any(part.startswith(".") or part == "node_modules" for part in page.relative_to(root).parts)
    )


def anchors(page: Path) -> set[str]:
    """The anchors that the page's headings make, as GitHub names them."""
    made: dict[str, int] = {}
    found = set()
    for _, line in prose_lines(page):
        heading = _HEADING.match(line)
        if heading is None:
            continue
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
        slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        found.add(slug if slug not in made else f"{slug}-{made[slug]}")
        made[slug] = made.get(slug, 0) + 1
    return found


def broken_links(page: Path) -> list[str]:
    """The links that lead to no file, folder or heading of the repository; those into the net are not followed."""
    broken = []
    for number, line in prose_lines(page):
        for target in _LINK.findall(_INLINE_CODE.sub("``", line)):
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            name, _, anchor = unquote(target).partition("#")
            place = (page.parent / name).resolve() if name else page
            if not place.exists():
                broken.append(f"{page.name}:{number}: there is no {name}")
            elif anchor and (place.suffix != ".md" or anchor not in anchors(place)):
                broken.append(f"{page.name}:{number}: {place.name} has no heading #{anchor}")
    return broken


def console_commands(page: Path) -> Iterator[tuple[str, list[str]]]:
    """The `$ howdah …` lines of console blocks: where, and the words after `howdah`."""
    for block in read_blocks(page):
        if block.language == "console":
            for offset, line in enumerate(block.text.splitlines()):
                if line.startswith("$ howdah"):
                    yield f"{page.name}:{block.line + offset}", shlex.split(line, comments=True)[2:]


def inline_commands(page: Path) -> Iterator[tuple[str, list[str]]]:
    """The `howdah …` that stand in the text."""
    for number, line in prose_lines(page):
        for _, code in _INLINE_CODE.findall(line):
            if code.startswith("howdah "):
                yield f"{page.name}:{number}", shlex.split(code)[1:]
