"""docs/benchmarks.md, its plots and the kept copy of its results, from a results file: `python -m benchmarks.report`.

It measures nothing and knows no figure of its own, so the page can be made again from the results at any time.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks import results
from benchmarks.explanations import DEFINITIONS, NOT_COMPARABLE, REPRODUCE
from benchmarks.figures import (
    BULK,
    DRAIN,
    FLATNESS,
    METRICS,
    P50,
    P99,
    PINNED,
    SINGLE,
    SUSTAINED,
    Figures,
    Metric,
    Summary,
)
from benchmarks.peers import peer
from benchmarks.plots import Bar, Line, bars, lines

DOCS = Path(__file__).parents[1] / "docs"
FOLDER = DOCS / "benchmarks"
KEPT = FOLDER / "results.jsonl"
WARM_UP = 2.0
SHOWN = {
    "drain": (DRAIN,),
    "sustained": (SUSTAINED,),
    "pinned": (PINNED, FLATNESS),
    "latency": (P50, P99),
    "enqueue": (SINGLE, BULK),
}


def number(value: float, metric: Metric) -> str:
    if metric.unit == "ms":
        return f"{value:.1f}" if value < 100 else f"{value:,.0f}"
    return f"{value:.2f}" if not metric.unit else f"{value:,.0f}"


def times(ratio: float | None) -> str:
    if ratio is None:
        return "–"
    return f"{ratio:,.0f} ×" if ratio >= 20 else f"{ratio:.1f} ×" if ratio >= 1.95 else f"{ratio:.2f} ×"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines_ = ["| " + " | ".join(head) + " |", "|" + "|".join(["---"] + ["--:"] * (len(head) - 1)) + "|"]
    return "\n".join([*lines_, *("| " + " | ".join(row) + " |" for row in rows)])


def with_spread(summary: Summary | None, metric: Metric) -> list[str]:
    if summary is None:
        return ["–", "–"]
    low, high = number(summary.low, metric), number(summary.high, metric)
    return [f"**{number(summary.median, metric)}**", f"{low} – {high}"]


def title_of(metric: Metric) -> str:
    return f"{metric.title}, {metric.unit}" if metric.unit else metric.title


def overview(figures: Figures) -> str:
    """Medians of everything, one line per system."""
    rows = []
    for name in figures.systems():
        cells = []
        for metric in METRICS:
            summary = figures.summary(name, metric)
            cells.append("–" if summary is None else number(summary.median, metric))
        rows.append([f"**{peer(name).title}**" if name == "howdah" else peer(name).title, *cells])
    return table(["median", *(title_of(metric) for metric in METRICS)], rows)


def ratios(figures: Figures) -> str:
    """How many times better Howdah is."""
    shown = [metric for metric in METRICS if metric is not FLATNESS]
    rows = [
        [peer(name).title, *(times(figures.ratio(name, metric)) for metric in shown)]
        for name in figures.systems()
        if name != "howdah"
    ]
    return table(["Howdah is better by", *(metric.title for metric in shown)], rows)


def chapter(figures: Figures, scenario: str, seconds: dict[str, float]) -> str:
    """One scenario: what it is, its plots, its table."""
    head = ["", *(word for metric in SHOWN[scenario] for word in (title_of(metric), "min – max")), "rounds"]
    rows = []
    for name in figures.systems():
        tried = figures.of(name, scenario)
        if not tried:
            continue
        cells = [cell for m in SHOWN[scenario] for cell in with_spread(figures.summary(name, m), m)]
        good = sum(1 for row in tried if row["ok"])
        rows.append([peer(name).title, *cells, str(good) if good == len(tried) else f"{good} of {len(tried)}"])
    if not rows:
        return ""
    definition = DEFINITIONS[scenario].format(warm=WARM_UP, **seconds)
    pictures = "\n\n".join(f"![{title}](benchmarks/{file})" for file, title in plot_files(figures, scenario))
    return f"### {scenario}\n\n{definition}\n\n{pictures}\n\n{table(head, rows)}\n"


def plot_files(figures: Figures, scenario: str) -> list[tuple[str, str]]:
    """Draw what there is to draw; file and title of each plot."""
    drawn = []
    FOLDER.mkdir(parents=True, exist_ok=True)
    for metric in SHOWN[scenario]:
        rows = [
            Bar(peer(name).title, found.median, found.low, found.high, name == "howdah")
            for name in figures.systems()
            if (found := figures.summary(name, metric)) is not None and found.low > 0
        ]
        if rows and metric is not FLATNESS:
            file = f"{metric.scenario}-{metric.figure.removesuffix('_per_second').removesuffix('_ms')}.svg"
            file = file.replace("-per_second", "")
            better = "more" if metric.more_is_better else "less"
            title = f"{title_of(metric)}: median and spread, logarithmic, {better} is better"
            (FOLDER / file).write_text(bars(title, rows))
            drawn.append((file, title))
    if scenario in ("sustained", "pinned"):
        series = [
            Line(peer(name).title, values, name == "howdah")
            for name in figures.systems()
            if any(values := figures.seconds(name, scenario))
        ]
        if series:
            file, title = f"{scenario}-seconds.svg", f"{scenario}: jobs in each second, logarithmic"
            (FOLDER / file).write_text(lines(title, series))
            drawn.append((file, title))
    return drawn


def nature(figures: Figures) -> str:
    rows = [
        [about.title, about.language, about.handler, about.keeps, about.durable]
        for about in map(peer, figures.systems())
    ]
    head = ["", "language", "handler", "what remains of a finished job", "on disk before it counts"]
    return table(head, rows).replace("--:", "---")


def settings(figures: Figures, environment: results.Environment) -> str:
    rows = []
    for about in map(peer, figures.systems()):
        versions = ", ".join(f"{package} {environment['versions'].get(package, '?')}" for package in about.packages)
        rows.append(
            [about.title, versions, about.settings["worker"], about.settings["enqueue"], figures.sizes(about.name)]
        )
    return table(["", "versions", "worker", "enqueue", "jobs"], rows).replace("--:", "---")


def conditions(environment: results.Environment, figures: Figures) -> str:
    hardware, versions = environment["hardware"], environment["versions"]
    peers_own = {package for name in figures.systems() for package in peer(name).packages}
    ground = ", ".join(f"{name} {version}" for name, version in versions.items() if name not in peers_own)
    postgres = ", ".join(f"`{name} = {value}`" for name, value in environment["postgres"].items())
    redis = ", ".join(f"`{name} {value}`" for name, value in environment["redis"].items())
    machine = ", ".join([hardware["processor"], f"{hardware['cores']} cores", hardware["memory"], hardware["system"]])
    return "\n".join(
        [
            f"* Machine: {machine}",
            f"* Software: {ground}",
            f"* PostgreSQL, the same for all, a fresh database and a checkpoint before every measurement: {postgres}",
            f"* Redis, its defaults: {redis}",
            f"* Run `{environment['run']}`, begun {environment['started']}: `{environment['command']}`;"
            f" {figures.rounds()} rounds, {figures.minutes():.0f} minutes, each round in another order",
        ]
    )


def troubles(figures: Figures, environment: results.Environment) -> str:
    said = [f"* {peer(name).title} was left out: {why}" for name, why in environment["left_out"].items()]
    for row in figures.failures():
        reason = row["reason"].replace("|", "/").replace("`", "'")
        said.append(f"* {peer(row['system']).title}, {row['scenario']}, round {row['round']}: `{reason}`")
    return "\n".join(said) or "None: every measurement of every system gave a figure."


def page(figures: Figures, environment: results.Environment) -> str:
    seconds = environment["seconds"]
    chapters = "\n".join(filter(None, (chapter(figures, name, seconds) for name in SHOWN)))
    return f"""# Howdah beside its peers

Made by `make bench-peers` from [these results](benchmarks/results.jsonl), not by hand: medians over {figures.rounds()}
interleaved rounds on one machine and one PostgreSQL server, no-op handlers, every system through its public API,
configured for speed. Read [what is not comparable](#what-is-not-comparable) before you conclude anything.

{overview(figures)}

How many times better Howdah is, by medians (below 1 ×, it is worse):

{ratios(figures)}

## The scenarios

{chapters}
## What is not comparable

{NOT_COMPARABLE}

{nature(figures)}

## Settings

{conditions(environment, figures)}

{settings(figures, environment)}

## What failed or was left out

{troubles(figures, environment)}

## Again, on your machine

{REPRODUCE.format(minutes=max(1.0, figures.minutes()))}
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report", description=__doc__)
    default = results.RESULTS if results.RESULTS.exists() else KEPT
    parser.add_argument("--results", type=Path, default=default)
    parser.add_argument("--run", help="id of a run in that file; the last one if not given")
    given = parser.parse_args()
    run = given.run or results.runs(given.results)[-1]
    environment = results.environment_of(given.results, run)
    rows = results.measurements_of(given.results, run)
    FOLDER.mkdir(parents=True, exist_ok=True)
    KEPT.write_text("".join(json.dumps(row) + "\n" for row in (environment, *rows)))
    (DOCS / "benchmarks.md").write_text(page(Figures(rows), environment))
    print(f"docs/benchmarks.md: run {run}, {len(rows)} measurements")


if __name__ == "__main__":
    main()
