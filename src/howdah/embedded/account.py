"""The account that runs the server: ourselves, or, if we are root, an unprivileged one that exists.

PostgreSQL refuses to run as root. Accounts are never created. Whatever is written inside folders of that
account is written by a child that runs as it, so that root never follows a link somebody laid there.
"""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howdah.model.errors import EmbeddedError

CANDIDATES = ("postgres", "nobody")


@dataclass(frozen=True)
class Account:
    uid: int
    gid: int
    name: str
    dropped: bool

    def run(
        self,
        command: Sequence[str | Path],
        *,
        text_in: str = "",
        keep_open: tuple[int, ...] = (),
        timeout: float = 300,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program as this account, from /, with no PG* setting of ours; output is captured."""
        identity: dict[str, Any] = {"user": self.uid, "group": self.gid, "extra_groups": []} if self.dropped else {}
        return subprocess.run(
            command,
            input=text_in,
            capture_output=True,
            text=True,
            errors="replace",
            cwd="/",
            env=server_environment(),
            pass_fds=keep_open,
            timeout=timeout,
            check=False,
            umask=0o077,
            **identity,
        )

    def can_enter(self, folder: Path) -> bool:
        """Tried, not computed: access lists and mounts have a say too."""
        return not self.dropped or self.run(["/bin/sh", "-c", 'cd -- "$1"', "sh", folder]).returncode == 0

    def can_run(self, program: Path) -> bool:
        try:
            return self.run([program, "--version"]).returncode == 0
        except OSError:
            return False

    def make_folder(self, path: Path) -> None:
        if not os.path.lexists(path):
            self.run(["/bin/sh", "-c", 'mkdir -m 700 -- "$1"', "sh", path])

    def remove(self, *paths: Path) -> None:
        """Remove files and whole folders, with this account's rights."""
        if any(os.path.lexists(path) for path in paths):
            self.run(["/bin/sh", "-c", 'rm -rf -- "$@"', "sh", *paths])


def server_environment() -> dict[str, str]:
    """Our environment without what would steer PostgreSQL; messages in English, because we read them."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_"))}
    return {**kept, "LC_ALL": "C", "LANG": "C"}


def choose_account(data_owner: int | None) -> Account:
    """Who runs the server, given who owns the data that is already there."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), account_name(os.geteuid()), dropped=False)
    if data_owner:
        return Account(data_owner, group_of(data_owner), account_name(data_owner), dropped=True)
    for name in CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return Account(entry.pw_uid, entry.pw_gid, name, dropped=True)
    raise EmbeddedError(
        "PostgreSQL does not run as root, and there is no account `postgres` or `nobody` to run it; "
        "run as an ordinary user"
    )


def account_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


def group_of(uid: int) -> int:
    try:
        return pwd.getpwuid(uid).pw_gid
    except KeyError:
        return uid
