"""What a figure depends on besides the code: machine, versions, settings."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from benchmarks.peers import peer
from benchmarks.processes import ROOT
from benchmarks.servers import redis_version

NODE_FOLDER = Path(__file__).parent / "peers" / "graphile"


def hardware() -> dict[str, str]:
    return {
        "processor": processor(),
        "cores": str(os.cpu_count()),
        "memory": memory(),
        "system": f"{platform.system()} {platform.release()}",
    }


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    except (ValueError, OSError):
        return "?"


def versions(names: list[str], postgres: str) -> dict[str, str]:
    """Of every package named by the systems that take part, and of what they stand on."""
    found = {"PostgreSQL": postgres, "Python": platform.python_version(), "uvloop": installed("uvloop") or "missing"}
    for name in names:
        for package in peer(name).packages:
            found[package] = installed(package) or node_package(package) or "missing"
    if "graphile" in names:
        found["Node"] = first_line(["node", "--version"]).lstrip("v")
    if any(peer(name).store == "redis" for name in names):
        found["Redis"] = redis_version()
    if commit := first_line(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]):
        found["Howdah commit"] = commit
    return found


def installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def node_package(package: str) -> str | None:
    path = NODE_FOLDER / "node_modules" / package / "package.json"
    return str(json.loads(path.read_text())["version"]) if path.exists() else None


def first_line(command: list[str]) -> str:
    if shutil.which(command[0]) is None:
        return ""
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return said.splitlines()[0].strip() if said.strip() else ""


def why_left_out(name: str) -> str | None:
    """Why a system cannot take part here, in words for the report; None if it can."""
    about = peer(name)
    if sys.version_info[:2] < about.minimum_python:
        wanted = ".".join(map(str, about.minimum_python))
        return f"{about.title} needs Python {wanted}; this is {platform.python_version()}"
    if about.store == "redis" and shutil.which("redis-server") is None:
        return "redis-server is not installed (apt-get install redis-server)"
    if about.language == "Node" and shutil.which("node") is None:
        return "node is not installed"
    missing = [package for package in about.packages if not (installed(package) or node_package(package))]
    return f"not installed: {', '.join(missing)}" if missing else None
