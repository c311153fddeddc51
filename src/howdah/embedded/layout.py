"""Where everything lies.

folder/                .gitignore  the locks (locks.py)  stay  server.log  location
home/                  data/  socket/          0700, owned by the account that runs the server

`home` is folder/server; or, if we are root and the server's account cannot enter the folder (say, below
/root), a folder of its own in /var/tmp. The socket is in home, or in a short hashed folder in the
temporary directory if the path is longer than a socket's may be. What is not inside the folder is written
to folder/location, so that the next start finds it whatever its environment.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
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
    noted = read_location(folder)
    home = folder / "server"
    if "home" in noted and Path(noted["home"]).is_dir():
        home = Path(noted["home"])
    # A copied or moved folder must not share the socket of the original.
    if noted.get("folder") == str(folder) and "socket" in noted:
        return Layout(folder, home, Path(noted["socket"]))
    return Layout(folder, home, socket_folder_for(home))


def settle(folder: Path) -> tuple[Layout, Account]:
    """Make the folders and decide on the account; call it with the start lock held."""
    layout = read_layout(folder)
    account = choose_account(owner_of(layout.data))
    if layout.home == folder / "server" and not layout.home.exists() and not account.can_enter(folder):
        home = Path(tempfile.mkdtemp(prefix="howdah-", dir=OUTSIDE))
        layout = Layout(folder, home, socket_folder_for(home))
    make_private(layout.home, account)
    write_location(layout)
    make_private(layout.socket_dir, account)
    return layout, account


def socket_folder_for(home: Path) -> Path:
    inside = home / "socket"
    if len(os.fsencode(inside / SOCKET_NAME)) <= SOCKET_PATH_LIMIT:
        return inside
    identity = f"{os.path.realpath(home)}:{os.geteuid()}"
    return Path(tempfile.gettempdir()) / f"howdah-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"


def make_private(path: Path, account: Account) -> None:
    """A folder that only the account can enter; one that is there already must be just that."""
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    found = path.lstat()
    if account.dropped and found.st_uid == 0 and stat.S_ISDIR(found.st_mode):
        # Ours, made a moment ago, or by a start that was killed before it came to this line.
        os.chown(path, account.uid, account.gid, follow_symlinks=False)
        found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != account.uid or found.st_mode & 0o077:
        raise EmbeddedError(
            f"{path} must be a folder of mode 0700 that belongs to {account.name}; "
            "move it away, or run as its owner"
        )


def owner_of(path: Path) -> int | None:
    try:
        return path.lstat().st_uid
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError as error:
        raise EmbeddedError(
            f"{path} belongs to another account; run as its owner, or use another folder"
        ) from error


def read_location(folder: Path) -> dict[str, str]:
    try:
        noted = json.loads((folder / "location").read_text())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return {}
    return noted if isinstance(noted, dict) else {}


def write_location(layout: Layout) -> None:
    """Note what is not where a reader would look first; replaced in one step, so never half written."""
    noted = {}
    if layout.home.parent != layout.folder:
        noted["home"] = str(layout.home)
    if layout.socket_dir.parent != layout.home:
        noted["socket"] = str(layout.socket_dir)
    if not noted or {**noted, "folder": str(layout.folder)} == read_location(layout.folder):
        return
    draft = layout.folder / "location.new"
    draft.write_text(json.dumps({**noted, "folder": str(layout.folder)}))
    draft.replace(layout.folder / "location")
