"""A small disk in memory that can be filled to the last byte."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

_PIECE = 1 << 20


def may_mount() -> bool:
    """Whether this account may have one."""
    with tempfile.TemporaryDirectory() as folder:
        return _mount(Path(folder), 1) and _unmount(Path(folder))


class SmallDisk:
    """A tmpfs of so many megabytes below a folder."""

    def __init__(self, below: Path, megabytes: int) -> None:
        self.folder = below / "disk"
        self.folder.mkdir()
        if not _mount(self.folder, megabytes):
            raise RuntimeError("a small disk needs the right to mount one: run this tier as root")
        self._ballast = self.folder / "ballast"

    @contextlib.contextmanager
    def full(self) -> Iterator[None]:
        """No byte is free meanwhile, whatever is deleted."""
        descriptor = os.open(self._ballast, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            piece = _PIECE
            while piece:
                try:
                    os.write(descriptor, b"\0" * piece)
                except OSError:
                    piece //= 2
            yield
        finally:
            os.close(descriptor)
            self._ballast.unlink()

    def close(self) -> None:
        """Gone, with all that is on it."""
        _unmount(self.folder)


def _mount(folder: Path, megabytes: int) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0755", "tmpfs", str(folder)]
    return shutil.which("mount") is not None and _quietly(command)


def _unmount(folder: Path) -> bool:
    return _quietly(["umount", "--lazy", str(folder)])


def _quietly(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
