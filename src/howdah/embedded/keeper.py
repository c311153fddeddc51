"""The process that stops the server when its last user has left.

Run by path (`python -I -S keeper.py '<order>'`) and importing the standard library only, because it is
there for as long as the server is, and should weigh little.

    waiting    blocked in an exclusive flock on users.lock, which every user holds shared
    stopping   it has that lock: no user is left, and none can come before it lets go
    gone       keeper.lock is let go first, users.lock after it: the next user sees that there is no keeper

If "stay" is set when the last user leaves, it lets go again and looks once a second. A killed keeper harms
nobody: the next user to come or leave starts another one for the server that runs.
"""

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import time

# A fast shutdown waits for a checkpoint; a laptop's disk may be slow. No better origin than that.
FAST_SECONDS = 60.0
IMMEDIATE_SECONDS = 20.0
LOG_LIMIT = 10 * 1024 * 1024
LOG_CHECK_SECONDS = 30.0


def keep(order: dict[str, str]) -> None:
    """Hold keeper.lock (inherited) until the server is stopped."""
    # Both opened for good: they go on telling the truth if somebody deletes the folder under the server.
    users = os.open(order["users_lock"], os.O_RDWR | os.O_CREAT, 0o600)
    server = os.open(order["server_lock"], os.O_RDWR | os.O_CREAT, 0o600)
    signal.signal(signal.SIGALRM, lambda *_: trim_log(order["log"]))
    signal.setitimer(signal.ITIMER_REAL, LOG_CHECK_SECONDS, LOG_CHECK_SECONDS)
    while True:
        fcntl.flock(users, fcntl.LOCK_EX)
        # With users.lock held, nobody is in the middle of a start: a free server.lock means no server.
        if not os.path.exists(order["stay_mark"]) or all_gone(server):
            break
        fcntl.flock(users, fcntl.LOCK_UN)
        time.sleep(1.0)
    stop_server(server, order["cluster"])
    os.close(int(order["keeper_descriptor"]))
    os.close(users)


def stop_server(server_lock: int, cluster: str) -> bool:
    """Fast stop, then immediate stop; True once no process of the server is left."""
    began = time.monotonic()
    told: set[int] = set()
    while not all_gone(server_lock):
        elapsed = time.monotonic() - began
        if elapsed > FAST_SECONDS + IMMEDIATE_SECONDS:
            return False
        how = signal.SIGINT if elapsed < FAST_SECONDS else signal.SIGQUIT
        if how not in told:
            found = postmasters(cluster)
            if found:
                told.add(how)
                send(found, how)
            elif elapsed > 1.0:
                send(orphans(cluster), signal.SIGKILL)
        time.sleep(0.01)
    return True


def all_gone(server_lock: int) -> bool:
    """Whether no process of the server is left: each of them holds this lock, by inheritance."""
    try:
        fcntl.flock(server_lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(server_lock, fcntl.LOCK_UN)
    return True


def postmasters(cluster: str) -> list[int]:
    """The server's first process, which is started with its name in its arguments."""
    return without_children([pid for pid in all_processes() if f" cluster_name={cluster} " in command_line(pid)])


def without_children(pids: list[int]) -> list[int]:
    """Leave out whose parent is there too, and who is gone: a new child has no title of its own yet."""
    return [pid for pid in pids if parent_of(pid) not in (0, *pids)]


def parent_of(pid: int) -> int:
    """Its parent's number; 0 if it is gone."""
    if not os.path.isdir("/proc/self"):
        return int(listing("-o", "ppid=", "-p", str(pid)).strip() or 0)
    try:
        with open(f"/proc/{pid}/stat") as file:
            # The name before it may hold spaces and brackets.
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def orphans(cluster: str) -> list[int]:
    """What a killed postmaster left behind: a busy backend does not look whether it still lives.

    Until they are gone no new server may touch the data, and they have nobody left to answer to.
    """
    return [pid for pid in all_processes() if command_line(pid).startswith(f"postgres: {cluster}:")]


def pid_in_file(data: str) -> int | None:
    """The process named in postmaster.pid, if it is a server for this data and not a reused number."""
    try:
        with open(os.path.join(data, "postmaster.pid")) as file:
            pid = int(file.readline())
    except (OSError, ValueError):
        return None
    return pid if pid > 1 and f" -D {data} " in command_line(pid) else None


def command_line(pid: int) -> str:
    """Its words, a space after each. Unlike the working directory, it may be read without any privilege."""
    if not os.path.isdir("/proc/self"):
        return listing("-o", "command=", "-p", str(pid)).strip() + " "
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return os.fsdecode(file.read()).replace("\0", " ")
    except OSError:
        return ""


def lost_its_folder(pid: int) -> bool:
    """Whether its working directory was deleted; known on Linux only."""
    try:
        return os.readlink(f"/proc/{pid}/cwd").endswith(" (deleted)")
    except OSError:
        return False


def all_processes() -> list[int]:
    if os.path.isdir("/proc/self"):
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [int(word) for word in listing("-A", "-o", "pid=").split()]


def listing(*options: str) -> str:
    return subprocess.run(["/bin/ps", "-ww", *options], capture_output=True, text=True, check=False).stdout


def send(pids: list[int], how: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, how)


def trim_log(log: str) -> None:
    """Start the log over when it is too long; the server appends, so it goes on at the new end."""
    with contextlib.suppress(OSError):
        if os.stat(log).st_size > LOG_LIMIT:
            os.truncate(log, 0)


if __name__ == "__main__":
    keep(json.loads(sys.argv[1]))
