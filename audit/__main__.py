"""Runs pip-audit over constraints.txt, and passes only if it could ask about every single package.

By itself pip-audit skips what its source of data does not know or cannot be asked, and passes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

CONSTRAINTS = Path(__file__).parents[1] / "constraints.txt"
CLEAN, VULNERABLE, UNKNOWN = 0, 1, 2


def main() -> int:
    """Ask, and say what the answer is worth."""
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off", "--timeout", "20"]
    command += ["--no-deps", "--disable-pip", "--requirement", str(CONSTRAINTS)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    except subprocess.TimeoutExpired:
        print("audit: NOT DONE: pip-audit did not answer within 15 minutes")
        return UNKNOWN
    code, lines = judge(done.stdout, done.stderr, pinned(CONSTRAINTS.read_text()))
    print("\n".join(lines))
    return code


def pinned(constraints: str) -> int:
    """How many packages are pinned."""
    return sum("==" in line for line in constraints.splitlines() if not line.startswith("#"))


def judge(answer: str, complaints: str, expected: int) -> tuple[int, list[str]]:
    """The exit code and what to print."""
    try:
        packages = json.loads(answer)["dependencies"]
    except (ValueError, KeyError, TypeError):
        last = complaints.strip().splitlines()[-1:] or ["no answer"]
        return UNKNOWN, [f"audit: NOT DONE: pip-audit failed: {last[0]}"]
    found = [_described(one, flaw) for one in packages for flaw in one.get("vulns", ())]
    if found:
        return VULNERABLE, found
    skipped = [one for one in packages if "skip_reason" in one]
    audited = len(packages) - len(skipped)
    if skipped or audited < expected:
        why = skipped[0]["skip_reason"] if skipped else "packages are missing from the answer"
        return UNKNOWN, [f"audit: NOT DONE: only {audited} of {expected} packages could be asked about: {why}"]
    return CLEAN, [f"audit: no known vulnerability in {audited} packages"]


def _described(package: dict[str, Any], flaw: dict[str, Any]) -> str:
    fixed = ", ".join(flaw["fix_versions"]) or "no version yet"
    return f"audit: {package['name']} {package['version']}: {flaw['id']}, fixed in {fixed}"


if __name__ == "__main__":
    sys.exit(main())
