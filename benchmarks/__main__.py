"""The runner: every system in turn, round by round, on one server; `python -m benchmarks --help`."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import environment, results
from benchmarks.peers import NAMES, peer
from benchmarks.peers.contract import Peer, Plan
from benchmarks.processes import Failure
from benchmarks.scenarios import SCENARIOS, Bench, plan_for, prepare
from benchmarks.servers import POSTGRES_SETTINGS, REDIS_SETTINGS, Postgres, Redis, memory_folder, scratch

SECONDS = {"drain": 0.0, "sustained": 10.0, "pinned": 20.0, "latency": 10.0, "enqueue": 0.0}
"""Chosen so that five rounds of everything take about 40 minutes (estimated)."""
PATIENCE = {"drain": 60.0, "sustained": 40.0, "pinned": 40.0, "latency": 30.0, "enqueue": 60.0}
"""Seconds beyond the scenario's own length after which a measurement is given up."""
PINNED_EVERY = 2
"""`pinned` is long and shows a trend, so it runs in every second round only: 1, 3, 5."""


@dataclass(frozen=True)
class Options:
    systems: list[str]
    scenarios: list[str]
    rounds: int
    jobs: int | None
    seconds: dict[str, float]
    out: Path
    run: str
    every_round: bool


@dataclass(frozen=True)
class Turn:
    """One measurement to be made."""

    round: int
    scenario: str
    system: str


def turns(options: Options) -> list[Turn]:
    """Systems stand side by side within a scenario, and each round begins with another one of them."""
    found = []
    for round_ in range(1, options.rounds + 1):
        shift = (round_ - 1) % len(options.systems)
        order = options.systems[shift:] + options.systems[:shift]
        for scenario in options.scenarios:
            if scenario == "pinned" and (round_ - 1) % PINNED_EVERY and not options.every_round:
                continue
            for name in order:
                if scenario == "pinned" and peer(name).store != "postgresql":
                    continue  # a snapshot means nothing to Redis; the report says so
                found.append(Turn(round_, scenario, name))
    return found


class Servers:
    """PostgreSQL, and Redis once somebody asks for it."""

    def __init__(self, folder: Path) -> None:
        (folder / "postgres").mkdir()
        self._folder = folder
        self._redis: Redis | None = None
        self.postgres = Postgres(folder / "postgres")

    @contextlib.contextmanager
    def database(self, about: Peer, name: str) -> Iterator[str]:
        if about.store == "postgresql":
            with self.postgres.database(name) as url:
                yield url
            return
        if self._redis is None:
            (self._folder / "redis").mkdir()
            self._redis = Redis(self._folder / "redis")
        with self._redis.database() as url:
            yield url

    def stop(self) -> None:
        if self._redis is not None:
            self._redis.stop()
        self.postgres.stop()


def measure(turn: Turn, options: Options, servers: Servers) -> dict[str, Any]:
    about, seconds = peer(turn.system), options.seconds[turn.scenario]
    folder = Path(tempfile.mkdtemp(prefix="howdah-tally-", dir=memory_folder()))
    try:
        with servers.database(about, f"{turn.system}_{turn.scenario}_{turn.round}") as url:
            plan = Plan(turn.system, url, str(folder), options=about.options)
            plan = plan_for(turn.scenario, plan, about, seconds, options.jobs)
            bench = Bench(about, plan, seconds + PATIENCE[turn.scenario])
            prepare(bench)
            return SCENARIOS[turn.scenario](bench)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def one_turn(turn: Turn, options: Options, servers: Servers) -> results.Measurement:
    """A measurement, or the reason why there is none; nothing that a system does stops the others."""
    begin = time.monotonic()
    figures: dict[str, Any] = {}
    reason = ""
    try:
        figures = measure(turn, options, servers)
    except Failure as failure:
        reason = str(failure)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
    return results.Measurement(
        kind="measurement",
        run=options.run,
        round=turn.round,
        system=turn.system,
        scenario=turn.scenario,
        ok=not reason,
        reason=reason,
        took=time.monotonic() - begin,
        figures=figures,
    )


def in_words(row: results.Measurement) -> str:
    if not row["ok"]:
        return f"FAILED: {row['reason']}"
    shown = {k: v for k, v in row["figures"].items() if isinstance(v, float)}
    return "  ".join(f"{name} {value:,.2f}" if value < 100 else f"{name} {value:,.0f}" for name, value in shown.items())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--systems", default=",".join(NAMES), help="names, separated by commas")
    parser.add_argument("--scenarios", default=",".join(SCENARIOS), help="names, separated by commas")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", type=int, help="jobs of drain and of bulk enqueue, instead of each system's own")
    parser.add_argument("--seconds", type=float, help="length of sustained, pinned and latency, instead of their own")
    parser.add_argument("--every-round", action="store_true", help="pinned in every round, not in every second")
    parser.add_argument("--out", type=Path, default=results.RESULTS, help="results file, appended to")
    parser.add_argument("--run", help="continue the run with this id: what it measured already is left out")
    return parser.parse_args()


def chosen(given: argparse.Namespace) -> Options:
    for word, known in ((given.systems, NAMES), (given.scenarios, tuple(SCENARIOS))):
        if unknown := set(word.split(",")) - set(known):
            sys.exit(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(known)}")
    timed = ("sustained", "pinned", "latency")
    seconds = {**SECONDS, **(dict.fromkeys(timed, given.seconds) if given.seconds else {})}
    return Options(
        systems=[name for name in given.systems.split(",") if environment.why_left_out(name) is None],
        scenarios=given.scenarios.split(","),
        rounds=given.rounds,
        jobs=given.jobs,
        seconds=seconds,
        out=given.out,
        run=given.run or datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ"),
        every_round=given.every_round,
    )


def describe(options: Options, asked: list[str], postgres: str) -> results.Environment:
    left_out = {name: why for name in asked if (why := environment.why_left_out(name)) is not None}
    return results.Environment(
        kind="environment",
        run=options.run,
        started=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        command=" ".join(["python -m benchmarks", *(word for word in sys.argv[1:] if "/" not in word)]),
        hardware=environment.hardware(),
        versions=environment.versions(options.systems, postgres),
        postgres=POSTGRES_SETTINGS,
        redis=REDIS_SETTINGS,
        left_out=left_out,
        seconds={scenario: options.seconds[scenario] for scenario in options.scenarios},
        rounds=options.rounds,
    )


def say(text: str) -> None:
    print(text, flush=True)


def main() -> None:
    # Ended from outside, it still ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    given = arguments()
    options = chosen(given)
    done = set()
    if given.run and options.out.exists():
        rows = results.measurements_of(options.out, options.run)
        done = {Turn(row["round"], row["scenario"], row["system"]) for row in rows if row["ok"]}
    todo = [turn for turn in turns(options) if turn not in done]
    folder = scratch()
    servers = Servers(folder)
    begin = time.monotonic()
    try:
        about = describe(options, given.systems.split(","), servers.postgres.version())
        results.append(options.out, about)
        for name, why in about["left_out"].items():
            say(f"left out: {name}: {why}")
        say(f"run {options.run}: {len(todo)} measurements")
        for number, turn in enumerate(todo, 1):
            row = one_turn(turn, options, servers)
            results.append(options.out, row)
            minutes, seconds = divmod(int(time.monotonic() - begin), 60)
            head = f"{minutes:3}:{seconds:02} {number:3}/{len(todo)} round {turn.round}"
            say(f"{head} {turn.scenario:9} {turn.system:13} {row['took']:5.1f} s  {in_words(row)}")
    finally:
        servers.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
