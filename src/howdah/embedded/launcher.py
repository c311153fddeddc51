"""Start a program in a session of its own and leave it behind.

Run by path (`python -I -S launcher.py '<order>'`), so that nothing of the package has to be imported. The
program's parent is gone at once: the machine's init process reaps it, and a killed postmaster never stays
on as somebody's zombie, which PostgreSQL would take for a living server.
"""

import json
import os
import sys


def launch(command: list[str], log: str, uid: int | None, gid: int | None) -> None:
    """Fork; the child becomes the command, with its output appended to `log` and its descriptors open."""
    if os.fork():
        return
    try:
        os.setsid()
        os.chdir("/")
        os.umask(0o077)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for target, source in ((0, nothing), (1, output), (2, output)):
            os.dup2(source, target)
        if uid is not None and gid is not None:
            os.setgroups([])
            os.setgid(gid)
            os.setuid(uid)
        os.execv(command[0], command)  # noqa: S606 - a shell would need quoting
    except OSError as error:
        os.write(2, f"FATAL:  {error}\n".encode())
    finally:
        os._exit(127)


if __name__ == "__main__":
    order = json.loads(sys.argv[1])
    launch(order["command"], order["log"], order["uid"], order["gid"])
