"""Runs the blocks of a page: Python in one namespace beside a real worker, SQL in one psql session.

`expression  # → value` in Python and `-- → row` below an SQL statement say what comes out; `…` stands for anything.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howdah import Howdah
from tests.docs.pages import Block
from tests.rig.waiting import until

ARROW = "→"
_MARKER = "@@ line "


def fits(shown: str, came: str) -> bool:
    """Whether what came is what is shown."""
    return re.fullmatch(".*".join(map(re.escape, shown.split("…"))), came, re.DOTALL) is not None


def write_files(blocks: list[Block], folder: Path) -> list[Path]:
    """The page's files, each put together from its blocks."""
    parts: dict[str, list[str]] = {}
    for block in blocks:
        if block.language == "python" and block.mark.endswith(".py"):
            parts.setdefault(block.mark, []).append(block.text)
    for name, texts in parts.items():
        (folder / name).write_text("\n\n".join(texts))
    return [folder / name for name in parts]


@contextmanager
def page_worker(folder: Path) -> Iterator[None]:
    """`howdah worker jobs:app` in that folder."""
    log = folder / "worker.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "howdah", "worker", "jobs:app"], cwd=folder, stdout=output, stderr=output
        )
    try:
        until(lambda: "worker started" in log.read_text() or process.poll() is not None, "the worker has started")
        assert process.poll() is None, log.read_text()
        yield
        assert process.poll() is None, log.read_text()
    finally:
        process.terminate()
        process.wait(60)


class Page:
    """The namespace that a page's Python blocks share."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "__page__"}
        self.compared = 0

    async def run(self, block: Block) -> None:
        """Run the block, statement by statement, and compare what it shows."""
        # Line numbers of the page, so that a traceback points into it.
        source = "\n" * (block.line - 1) + block.text
        lines = source.splitlines()
        for statement in ast.parse(source, block.place).body:
            shown = _shown_after(lines[(statement.end_lineno or statement.lineno) - 1])
            if shown is None:
                await self._run(ast.Module([statement], []), block, "exec")
                continue
            where = f"{block.page.name}:{statement.end_lineno}"
            assert isinstance(statement, ast.Expr), f"{where}: shows a value, but is no expression"
            came = repr(await self._run(ast.Expression(statement.value), block, "eval"))
            assert fits(shown, came), f"{where}: the page shows {shown}, but it is {came}"
            self.compared += 1

    async def _run(self, tree: ast.Module | ast.Expression, block: Block, mode: str) -> Any:
        code = compile(tree, str(block.page), mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        answer = eval(code, self.names)
        return await answer if code.co_flags & inspect.CO_COROUTINE else answer

    async def close(self) -> None:
        """Give back what the page's apps hold."""
        for app in {id(value): value for value in self.names.values() if isinstance(value, Howdah)}.values():
            await app.aclose()


def run_python(blocks: list[Block]) -> int:
    """Run all blocks that are to be run; how many values were compared."""
    page = Page()

    async def run() -> None:
        try:
            for block in blocks:
                await page.run(block)
        finally:
            await page.close()

    asyncio.run(run())
    return page.compared


def _shown_after(line: str) -> str | None:
    _, arrow, shown = line.partition(f"# {ARROW} ")
    return shown.strip() if arrow else None


@dataclass(frozen=True)
class Shown:
    """A statement of the page and the rows that stand below it."""

    place: str
    rows: tuple[str, ...]


def psql_script(blocks: list[Block]) -> tuple[str, dict[int, Shown]]:
    """What psql is to run, with a marker after every statement; and what is shown, by marker."""
    script: list[str] = []
    shown: dict[int, Shown] = {}
    marker = -1
    for block in blocks:
        for offset, line in enumerate(block.text.splitlines()):
            place = f"{block.page.name}:{block.line + offset}"
            script.append(line)
            if line.startswith(f"-- {ARROW}"):
                assert marker >= 0, f"{place}: a result without a statement"
                row = line.removeprefix(f"-- {ARROW}").strip()
                shown[marker] = Shown(place, (*(shown[marker].rows if marker in shown else ()), row))
            elif re.search(r"(;|\\gset)\s*(--.*)?$", line) and not line.startswith("--"):
                marker += 1
                script.append(rf"\echo {_MARKER}{marker}")
    return "\n".join(script) + "\n", shown


def run_sql(blocks: list[Block], psql: str, url: str) -> int:
    """Run all blocks in one psql session; how many results were compared."""
    script, shown = psql_script(blocks)
    command = [psql, "-X", "-q", "-A", "-t", "-F", " | ", "-P", "null=null", "-v", "ON_ERROR_STOP=1", "-f", "-", url]
    ended = subprocess.run(command, input=script, capture_output=True, text=True, timeout=100)
    assert ended.returncode == 0, f"{ended.stderr}\nafter\n{ended.stdout[-2000:]}"
    outputs: dict[int, list[str]] = {}
    waiting: list[str] = []
    for line in ended.stdout.splitlines():
        if line.startswith(_MARKER):
            outputs[int(line.removeprefix(_MARKER))] = waiting
            waiting = []
        else:
            waiting.append(line)
    for marker, expected in shown.items():
        came = outputs[marker]
        rows = [] if expected.rows == ("(nothing)",) else list(expected.rows)
        same = len(rows) == len(came) and all(map(fits, rows, came))
        assert same, f"{expected.place}: the page shows {rows}, but it is {came}"
    return len(shown)
