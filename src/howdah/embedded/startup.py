"""From "somebody wants it" to "it takes connections". The caller holds start.lock and is a user."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from howdah.embedded import keeper, launcher
from howdah.embedded.account import Account, server_environment
from howdah.embedded.binaries import Binaries
from howdah.embedded.cluster import (
    DATABASE,
    SUPERUSER,
    lack_of_room,
    make_data,
    matching_binaries,
    reason_in,
    version_of_data,
)
from howdah.embedded.installation import within_reach
from howdah.embedded.layout import Layout
from howdah.embedded.locks import EXCLUSIVE, LOOK_AGAIN, is_held, open_lock, take_at_once
from howdah.embedded.probe import Answer, ask
from howdah.model.errors import EmbeddedError

# Long enough for crash recovery of a laptop's queue on a slow disk; no better origin than that.
PATIENCE = 120.0
# Idle backends see within milliseconds that their postmaster was killed; who is left after this is busy.
ORPHANS_GRACE = 1.0
# For a killed process to be gone.
FAREWELL = 5.0


def is_running(layout: Layout) -> bool:
    """Both: our own server is alive (its lock), and it answers (its socket)."""
    return is_held(layout.server_lock) and answer(layout) is Answer.READY


def answer(layout: Layout) -> Answer:
    return ask(layout.socket, user=SUPERUSER, database=DATABASE)


def bring_up(layout: Layout, account: Account, preferred: Binaries, settings: Mapping[str, str]) -> None:
    """Return when the server takes connections, having started it if it was not there."""
    began = time.monotonic()
    launched_at: int | None = None
    while not is_running(layout):
        lock = take_at_once(layout.server_lock, EXCLUSIVE)
        if lock is not None:
            try:
                if launched_at is not None:
                    raise EmbeddedError(why_it_died(layout, launched_at))
                keeper.trim_log(str(layout.log))
                launched_at = log_size(layout)
                launch_server(layout, account, preferred, settings, lock)
            finally:
                # The server has inherited it by now.
                os.close(lock)
        elif launched_at is None and time.monotonic() - began > ORPHANS_GRACE:
            end_orphans_of_a_dead_server(layout)
        if time.monotonic() - began > PATIENCE:
            raise EmbeddedError(f"PostgreSQL does not take connections after {PATIENCE:.0f} s; see {layout.log}")
        time.sleep(LOOK_AGAIN)


def end_orphans_of_a_dead_server(layout: Layout) -> None:
    cluster = cluster_name(layout)
    if not keeper.postmasters(cluster):
        keeper.send(keeper.orphans(cluster), signal.SIGKILL)


def launch_server(
    layout: Layout, account: Account, preferred: Binaries, settings: Mapping[str, str], lock: int
) -> None:
    binaries = within_reach(account, matching_binaries(layout.data, preferred))
    if version_of_data(layout.data) is None:
        # Until this is on disk, a commit in it is not worth more than the folder it is in.
        make_data(layout, account, binaries, lock, durable=settings.get("fsync") != "off")
    end_server_without_data(layout)
    retire_stale_files(layout, account)
    command = [str(binaries.program("postgres")), "-D", str(layout.data)]
    for name, value in {**settings, **fixed_settings(layout)}.items():
        command += ["-c", f"{name}={value}"]
    launch(command, layout.log, account, lock)


def end_server_without_data(layout: Layout) -> None:
    """Kill a server whose folder was deleted under it, if ours is made in its place.

    Nothing of it is left to save, and on leaving in order it would remove the socket of its successor.
    """
    deadline = time.monotonic() + FAREWELL
    while time.monotonic() < deadline:
        found = [
            pid
            for pid in keeper.all_processes()
            if f" -D {layout.data} " in keeper.command_line(pid) and keeper.lost_its_folder(pid)
        ]
        if not found:
            return
        keeper.send(found, signal.SIGKILL)
        time.sleep(LOOK_AGAIN)


def retire_stale_files(layout: Layout, account: Account) -> None:
    """Remove pid files whose number now belongs to another program, as after a reboot.

    PostgreSQL refuses to start while such a number is alive and of its own account. We hold server.lock, so
    no server of ours is left; one that somebody started by hand is recognised by its command line.
    """
    if keeper.pid_in_file(str(layout.data)) is None:
        account.remove(layout.data / "postmaster.pid", layout.socket, Path(f"{layout.socket}.lock"))


def fixed_settings(layout: Layout) -> dict[str, str]:
    # Quoted, because the setting is a list: a comma in the path would split it.
    quoted = str(layout.socket_dir).replace('"', '""')
    return {
        "unix_socket_directories": f'"{quoted}"',
        "unix_socket_permissions": "0700",
        "port": "5432",
        "cluster_name": cluster_name(layout),
        "logging_collector": "off",
        "log_destination": "stderr",
        "lc_messages": "C",
    }


def cluster_name(layout: Layout) -> str:
    """Told to every process of the server and shown in its title; unlike any other living server's.

    The lock's inode is part of it: after the folder was deleted and made anew, two servers have one path.
    The number is not given to another file while a process of the server holds the lock open.
    """
    descriptor = open_lock(layout.server_lock)
    inode = os.fstat(descriptor).st_ino
    os.close(descriptor)
    identity = f"{os.path.realpath(layout.data)}:{inode}"
    return f"howdah-{hashlib.sha256(os.fsencode(identity)).hexdigest()[:16]}"


def ensure_keeper(layout: Layout) -> None:
    """Start a keeper unless there is one; it inherits the lock that says so."""
    lock = take_at_once(layout.keeper_lock, EXCLUSIVE)
    if lock is None:
        return
    order = {
        "users_lock": str(layout.users_lock),
        "server_lock": str(layout.server_lock),
        "stay_mark": str(layout.stay_mark),
        "log": str(layout.log),
        "cluster": cluster_name(layout),
        "keeper_descriptor": str(lock),
    }
    try:
        launch([*python(), str(Path(keeper.__file__)), json.dumps(order)], layout.log, None, lock)
    finally:
        os.close(lock)


def launch(command: list[str], log: Path, account: Account | None, inherit: int) -> None:
    dropped = account is not None and account.dropped
    order = {
        "command": command,
        "log": str(log),
        "uid": account.uid if account and dropped else None,
        "gid": account.gid if account and dropped else None,
    }
    done = subprocess.run(
        [*python(), str(Path(launcher.__file__)), json.dumps(order)],
        pass_fds=(inherit,),
        env=server_environment(),
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise EmbeddedError(f"cannot start {command[0]}: {(done.stderr.strip().splitlines() or ['?'])[-1]}")


def python() -> list[str]:
    """This interpreter, bare: no site packages, no user settings."""
    if not sys.executable:
        raise EmbeddedError("this Python does not know its own program; start the server with `howdah db start`")
    return [sys.executable, "-I", "-S"]


def log_size(layout: Layout) -> int:
    return layout.log.stat().st_size if layout.log.exists() else 0


def why_it_died(layout: Layout, offset: int) -> str:
    text = ""
    if layout.log.exists():
        with layout.log.open(errors="replace") as file:
            file.seek(offset)
            text = file.read()
    reason = reason_in(text) or lack_of_room(layout.home) or "it left without a word"
    return f"PostgreSQL did not start: {reason}; see {layout.log}"
