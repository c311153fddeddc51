"""Where everything lies.

folder/                .gitignore  the locks (locks.py)  stay  server.log  location
home/                  data/  socket/          0700, owned by the account that runs the server

`home` is folder/server; or, if we are root and the server's account cannot enter the folder (say, below
/root), a folder of its own in /var/tmp. The socket is in home, or in a short hashed folder in the
temporary directory if the path is longer than a socket's may be, or holds a comma. A home outside the
folder is written to folder/location, so that the next start finds it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from howdah.embedded.account import Account, choose_account
from howdah.model.errors import EmbeddedError

# sun_path holds 108 bytes on Linux and 104 on the BSDs and macOS, with the closing zero byte.
SOCKET_PATH_LIMIT = 107 if sys.platform == "linux" else 103
SOCKET_NAME = ".s.PGSQL.5432"
SHORT = Path("/tmp")  # noqa: S108 - what is there already is used only if it is ours and private
OUTSIDE = Path("/var/tmp")  # noqa: S108 - survives a reboot; what we put there is made by mkdtemp


@dataclass(frozen=True)
class Layout:
    folder: Path
    home: Path
    socket_dir: Path

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def socket(self) -> Path:
        return self.socket_dir / SOCKET_NAME

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    @property
    def stay_mark(self) -> Path:
        return self.folder / "stay"

    @property
    def users_lock(self) -> Path:
        return self.folder / "users.lock"

    @property
    def server_lock(self) -> Path:
        return self.folder / "server.lock"

    @property
    def keeper_lock(self) -> Path:
        return self.folder / "keeper.lock"


def start_lock(folder: Path) -> Path:
    return folder / "start.lock"


def make_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n")


def read_layout(folder: Path) -> Layout:
    """Where things are, or would be; makes nothing."""
    home = noted_home(folder) or folder / "server"
    return Layout(folder, home, socket_folder_for(home))


def settle(folder: Path) -> tuple[Layout, Account]:
    """Make the folders and decide on the account; call it with the start lock held."""
    layout = read_layout(folder)
    account = choose_account(owner_of(layout.data) or owner_of(layout.home))
    if layout.home == folder / "server":
        if not layout.home.exists() and not account.can_enter(folder):
            layout = settle_outside(folder, account)
        else:
            make_private(layout.home, account)
    check_private(layout.home, account)
    if layout.socket_dir.parent == layout.home:
        account.make_folder(layout.socket_dir)
    else:
        make_private(layout.socket_dir, account)
    check_private(layout.socket_dir, account)
    return layout, account


def settle_outside(folder: Path, account: Account) -> Layout:
    home = Path(tempfile.mkdtemp(prefix="howdah-", dir=OUTSIDE))
    os.chown(home, account.uid, account.gid)
    # Replaced in one step, so never half written.
    draft = folder / "location.new"
    draft.write_text(f"{home}\n")
    draft.replace(folder / "location")
    return Layout(folder, home, socket_folder_for(home))


def noted_home(folder: Path) -> Path | None:
    try:
        home = Path((folder / "location").read_text().strip())
    except (FileNotFoundError, NotADirectoryError):
        return None
    # Cleared away with the rest of /var/tmp: begin anew.
    return home if home.is_absolute() and home.is_dir() else None


def socket_folder_for(home: Path) -> Path:
    """In home, or, if that path cannot be used, a folder named by its hash: the same for every user."""
    inside = home / "socket"
    # A comma ends the host in a connection string, and nothing can quote it there.
    if len(os.fsencode(inside / SOCKET_NAME)) <= SOCKET_PATH_LIMIT and "," not in str(inside):
        return inside
    # Not the temporary directory of the environment, which differs between users and may be long itself.
    short = SHORT if os.access(SHORT, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())
    return short / f"howdah-{hashlib.sha256(os.fsencode(os.path.realpath(home))).hexdigest()[:16]}"


def make_private(path: Path, account: Account) -> None:
    """Make a folder that only the account can enter, unless it is there."""
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    # Of root and empty: made just now, or by a start that was killed before it came to this line.
    found = path.lstat()
    if account.dropped and found.st_uid == 0 and stat.S_ISDIR(found.st_mode) and not any(path.iterdir()):
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


def check_private(path: Path, account: Account) -> None:
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != account.uid or found.st_mode & 0o077:
        raise EmbeddedError(
            f"{path} must be a folder of mode 0700 that belongs to {account.name}; move it away, or run as its owner"
        )


def owner_of(path: Path) -> int | None:
    try:
        return path.lstat().st_uid
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError as error:
        raise EmbeddedError(f"{path} belongs to another account; run as its owner, or use another folder") from error
