"""The data folder: made in one step, checked before use, never altered if it is of another version."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from howdah.embedded.account import Account
from howdah.embedded.binaries import Binaries, all_binaries
from howdah.embedded.layout import Layout
from howdah.model.errors import EmbeddedError

SUPERUSER = "howdah"
DATABASE = "howdah"

# The socket's folder lets in nobody but the server's account and root. There is no line for TCP: should
# somebody turn listen_addresses on, every connection is refused until they also write a rule for it.
HOST_BASED_AUTHENTICATION = "local all all trust\nlocal replication all trust\n"

ROOM_FOR_A_WORD = 1024 * 1024


def version_of_data(data: Path) -> int | None:
    """The major version that made the data folder; None if there is none yet."""
    try:
        return int((data / "PG_VERSION").read_text().split(".")[0])
    except (FileNotFoundError, ValueError):
        if os.path.lexists(data):
            raise EmbeddedError(f"{data} is not a PostgreSQL data folder; move it away") from None
        return None


def matching_binaries(data: Path, preferred: Binaries) -> Binaries:
    """`preferred`, or, if the data is of another major version, an installation of that one."""
    major = version_of_data(data)
    if major is None or major == preferred.major:
        return preferred
    for other in all_binaries():
        if other.major == major:
            return other
    raise EmbeddedError(
        f"{data} was made by PostgreSQL {major}, but the programs in {preferred.bin_dir} are version "
        f"{preferred.version}; set HOWDAH_PG_BIN to the bin directory of a PostgreSQL {major}, "
        "or move the folder away"
    )


def make_data(layout: Layout, account: Account, binaries: Binaries, server_lock: int, *, durable: bool) -> None:
    """Make the data folder beside its place and rename it, so that it is there whole or not at all.

    The children hold the server lock: if we are killed, the next start waits for them before it clears up.
    """
    for leftover in layout.home.glob("initdb-*"):
        account.remove(leftover)
    draft = layout.home / f"initdb-{secrets.token_hex(4)}"
    try:
        for command, text_in in steps(draft, binaries, durable=durable):
            done = account.run(command, text_in=text_in, keep_open=(server_lock,))
            # Single-user mode reports a failed statement in words only.
            if done.returncode != 0 or re.search(r"(ERROR|FATAL|PANIC):", done.stderr):
                reason = reason_in(done.stderr) or lack_of_room(layout.home) or f"exit code {done.returncode}"
                raise EmbeddedError(f"cannot make a PostgreSQL data folder in {layout.home}: {reason}")
        draft.rename(layout.data)
    except BaseException:
        account.remove(draft)
        raise


def steps(draft: Path, binaries: Binaries, *, durable: bool) -> Iterator[tuple[list[str | Path], str]]:
    """The commands that make a data folder, each with what it reads."""
    yield initdb_command(draft, binaries), ""
    yield ["/bin/sh", "-c", 'cat > "$1"', "sh", draft / "pg_hba.conf"], HOST_BASED_AUTHENTICATION
    single_user: list[str | Path] = [binaries.program("postgres"), "--single", "-F", "-D", draft, "template1"]
    yield single_user, f"CREATE DATABASE {DATABASE}\n"
    if durable:
        # Once, at the end: cheaper than after each step.
        yield [binaries.program("initdb"), "--sync-only", "-D", draft], ""


def initdb_command(draft: Path, binaries: Binaries) -> list[str | Path]:
    command: list[str | Path] = [binaries.program("initdb"), "-D", draft, "-U", SUPERUSER]
    command += ["--auth=trust", "--encoding=UTF8", "--locale=C", "--data-checksums", "--no-sync"]
    if binaries.major >= 17:
        # Letters of all languages, with the same sort order on every machine.
        command += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    return command


def reason_in(output: str) -> str | None:
    """The line that says why: the first grave one, without its time stamp."""
    # "The database system is starting up" is what our own probe was told, not a reason.
    grave = re.findall(r"(?:FATAL|PANIC|ERROR|error):\s+(?!the database system is )(.*)", output)
    full = [line for line in grave if "No space left on device" in line]
    chosen = (full or grave or [None])[0]
    return chosen.strip() if chosen else None


def lack_of_room(folder: Path) -> str | None:
    """On a full disk the log may have no room for the reason."""
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return None
    return "No space left on device" if free < ROOM_FOR_A_WORD else None
