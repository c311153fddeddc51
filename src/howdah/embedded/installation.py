"""A copy of PostgreSQL's programs for a server account that cannot reach the originals.

As root, a virtual environment often lies below a folder that nobody else may enter. Its permissions are not
ours to change, so the programs are copied once, to a place that everybody can read and only root can write.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from dataclasses import replace
from pathlib import Path

from howdah.embedded.account import Account
from howdah.embedded.binaries import Binaries
from howdah.embedded.layout import OUTSIDE
from howdah.model.errors import EmbeddedError

NEEDED = ("postgres", "initdb")
PARTS = ("bin", "lib", "share")


def within_reach(account: Account, binaries: Binaries) -> Binaries:
    """These binaries, or a copy of them that the account can run."""
    if not account.dropped or usable(account, binaries):
        return binaries
    place = OUTSIDE / f"howdah-postgres-{binaries.version}-{fingerprint(binaries)}"
    if not place.exists():
        copy_installation(binaries, place)
    if not owned_by_us(place):
        raise EmbeddedError(f"{place} should hold a copy of PostgreSQL, but is not ours alone; remove it")
    copied = replace(binaries, bin_dir=place / inside_copy(binaries) / "bin")
    if not usable(account, copied):
        raise EmbeddedError(
            f"account {account.name} can run PostgreSQL neither in {binaries.bin_dir} nor as a copy "
            f"in {place}; set HOWDAH_PG_BIN to a bin directory that it can reach"
        )
    return copied


def usable(account: Account, binaries: Binaries) -> bool:
    return all(account.can_run(binaries.program(name)) for name in NEEDED)


def fingerprint(binaries: Binaries) -> str:
    """Changes with every other build, so that an old copy is never taken for a new one."""
    found = binaries.program("postgres").stat()
    identity = f"{binaries.bin_dir}:{found.st_size}:{found.st_mtime_ns}"
    return hashlib.sha256(identity.encode(errors="surrogateescape")).hexdigest()[:12]


def inside_copy(binaries: Binaries) -> Path:
    """The last two folders of its path: wheels find their libraries by ../../../<name>.libs."""
    root = binaries.bin_dir.parent
    return Path(root.parent.name, root.name)


def copy_installation(binaries: Binaries, place: Path) -> None:
    """Copy beside the place and rename, so that a copy is there whole or not at all."""
    root = binaries.bin_dir.parent
    draft = Path(tempfile.mkdtemp(prefix="howdah-copy-", dir=OUTSIDE))
    try:
        target = draft / inside_copy(binaries)
        for part in PARTS:
            if (root / part).is_dir():
                shutil.copytree(
                    root / part,
                    target / part,
                    symlinks=True,
                    ignore=shutil.ignore_patterns("*.a", "pkgconfig"),
                )
        libraries = root.parent.parent / f"{root.parent.name}.libs"
        if libraries.is_dir():
            shutil.copytree(libraries, draft / libraries.name, symlinks=True)
        open_for_reading(draft)
        draft.rename(place)
    except OSError:
        shutil.rmtree(draft, ignore_errors=True)
        # Somebody else may have been quicker; then theirs is as good.
        if not place.exists():
            raise


def open_for_reading(draft: Path) -> None:
    """Our umask, or the original's modes, may hide what the account has to read."""
    for folder, _, names in os.walk(draft):
        Path(folder).chmod(0o755)
        for path in (Path(folder, name) for name in names):
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644)


def owned_by_us(place: Path) -> bool:
    found = place.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022
