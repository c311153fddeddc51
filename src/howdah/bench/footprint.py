"""Memory and processor time of processes, from /proc; memory also from `ps` where there is no /proc."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path


def resident_mb(pid: int) -> float | None:
    """What the process has in memory; None: cannot be told here."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    program = shutil.which("ps")
    if program is None:
        return None
    answer = subprocess.run([program, "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return int(answer.stdout) / 1024 if answer.stdout.strip().isdigit() else None


def server_seconds(backend_pid: int) -> float | None:
    """Processor time that the server of this backend has used so far, all its processes together, ended ones too. None:
    it does not run on this machine, or not where we can see it."""
    try:
        if "postgres" not in Path(f"/proc/{backend_pid}/cmdline").read_text():
            return None
        postmaster = int(_stat(backend_pid)[1])
        ticks = 0
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and (fields := _stat_or_none(int(entry.name))) is not None:
                if int(entry.name) == postmaster:
                    # Its own, and that of the children it has buried.
                    ticks += sum(map(int, fields[11:15]))
                elif int(fields[1]) == postmaster:
                    ticks += sum(map(int, fields[11:13]))
    except (OSError, ValueError):
        return None
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    # The command's name stands in parentheses and may hold anything; what follows it is regular.
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _stat_or_none(pid: int) -> list[str] | None:
    try:
        return _stat(pid)
    except OSError:
        return None
