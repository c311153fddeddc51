"""The results file: JSON lines, appended as measured, so that an interrupted run loses nothing.

A line is either an environment (`kind: "environment"`, one per run) or a measurement (`kind: "measurement"`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypedDict, cast

RESULTS = Path(__file__).parent / "results" / "results.jsonl"


class Measurement(TypedDict):
    """One system, one scenario, one round."""

    kind: str
    run: str
    round: int
    system: str
    scenario: str
    ok: bool
    reason: str
    took: float
    figures: dict[str, Any]


class Environment(TypedDict):
    """What a run was measured on and with."""

    kind: str
    run: str
    started: str
    command: str
    hardware: dict[str, str]
    versions: dict[str, str]
    postgres: dict[str, str]
    redis: dict[str, str]
    left_out: dict[str, str]
    seconds: dict[str, float]
    rounds: int


def append(path: Path, row: Measurement | Environment) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(row) + "\n")


def read(path: Path) -> Iterable[dict[str, Any]]:
    with path.open() as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def runs(path: Path) -> list[str]:
    """Ids of all runs, in the order in which they began."""
    return list(dict.fromkeys(str(row["run"]) for row in read(path)))


def environment_of(path: Path, run: str) -> Environment:
    """What the run was made with; one that was continued has several, each with the lengths of its own scenarios."""
    found = [row for row in read(path) if row["kind"] == "environment" and row["run"] == run]
    seconds = {scenario: length for row in found for scenario, length in row["seconds"].items()}
    commands = "`, `".join(row["command"] for row in found)
    return cast(Environment, {**found[-1], "started": found[0]["started"], "seconds": seconds, "command": commands})


def measurements_of(path: Path, run: str) -> list[Measurement]:
    return [cast(Measurement, row) for row in read(path) if row["kind"] == "measurement" and row["run"] == run]
