"""On what the figures were measured."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path

from howdah.bench.store import Server

_PACKAGES = ("howdah", "psycopg", "psycopg-binary", "uvloop", "msgspec")


def describe(server: Server) -> dict[str, object]:
    """Versions, machine, and the settings of the server that matter."""
    return {
        "versions": {"python": platform.python_version(), "postgresql": server.version, **_packages()},
        "machine": {
            "system": platform.platform(),
            "processor": _processor(),
            "cores": os.cpu_count(),
            "memory_mb": _memory_mb(),
            "load_average": os.getloadavg()[0],
        },
        "server": {
            "fsync": server.fsync,
            "synchronous_commit": server.synchronous_commit,
            "full_page_writes": server.full_page_writes,
            "shared_buffers": server.shared_buffers,
            "max_connections": server.max_connections,
            "by_socket": server.by_socket,
        },
    }


def is_durable(server: Server) -> bool:
    """Whether a commit survives a power cut."""
    return server.fsync == "on" and server.synchronous_commit not in ("off", "local")


def _packages() -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def _processor() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), None)


def _memory_mb() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    except (ValueError, OSError):
        return None
