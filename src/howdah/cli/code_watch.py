"""Tells when the code changes: Python files below some folders, but not those of environments, caches and databases.

The folders below each root are watched one by one, because watching all of a root would also hear a database that lives
there write. A new folder at the top is noticed, and watched from then on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

from watchfiles import Change, awatch

from howdah.model.errors import OptionError

# Each change would be a line of its own; what is worth telling is told by whoever asks.
logging.getLogger("watchfiles").setLevel(logging.WARNING)
_NEVER = {"node_modules", "__pycache__", "site-packages", "build", "dist"}
Changes = set[tuple[Change, str]]


def is_of_interest(folder: Path) -> bool:
    """Whether the project's own code may be in there."""
    return (
        folder.is_dir()
        and not folder.name.startswith(".")
        and folder.name not in _NEVER
        and not (folder / "pyvenv.cfg").exists()
    )


def is_code(path: str, roots: Iterable[Path]) -> bool:
    """Whether a change of this file may change what the app does."""
    found = Path(path)
    if found.suffix != ".py":
        return False
    inside = next((found.relative_to(root).parts for root in roots if found.is_relative_to(root)), ())
    return not any(part in _NEVER or part.startswith(".") for part in inside)


def check_roots(roots: Iterable[Path]) -> list[Path]:
    """The folders to watch, as they are really called."""
    found = [root.resolve() for root in roots]
    for root in found:
        if not root.exists():
            raise OptionError(f"--watch {root}: there is no such file or folder")
    return found


async def code_changes(roots: list[Path], stop: asyncio.Event) -> AsyncIterator[list[str]]:
    """The names of changed files, each time that some have changed; until told to stop."""
    while not stop.is_set():
        below = [folder for root in roots if root.is_dir() for folder in root.iterdir() if is_of_interest(folder)]
        async for changes in _both(roots, below, stop):
            fresh = [folder for change, path in changes if change is Change.added and (folder := Path(path)).is_dir()]
            paths = {path for _, path in changes} | {str(file) for folder in fresh for file in folder.rglob("*.py")}
            names = sorted(path for path in paths if is_code(path, roots))
            if names:
                yield names
            if fresh:
                break  # begin again, with the new folder


async def _both(roots: list[Path], below: list[Path], stop: asyncio.Event) -> AsyncIterator[Changes]:
    """What happens right in the roots, and anywhere below those folders."""
    ended = asyncio.Event()
    queue: asyncio.Queue[Changes | None] = asyncio.Queue()

    def is_news(change: Change, path: str) -> bool:
        found = Path(path)
        is_new_folder = change is Change.added and found.parent in roots and is_of_interest(found)
        return is_new_folder or is_code(path, roots)

    async def pass_on(paths: list[Path], recursive: bool) -> None:
        try:
            async for changes in awatch(*paths, watch_filter=is_news, recursive=recursive, stop_event=ended):
                queue.put_nowait(changes)
        finally:
            queue.put_nowait(None)

    async def end_when_told() -> None:
        await stop.wait()
        ended.set()

    tasks = [asyncio.create_task(pass_on(roots, False)), asyncio.create_task(end_when_told())]
    if below:
        tasks.append(asyncio.create_task(pass_on(below, True)))
    try:
        while (changes := await queue.get()) is not None:
            yield changes
        for task in tasks:
            if task.done():
                task.result()
    finally:
        ended.set()
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
