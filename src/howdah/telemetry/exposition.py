"""Prometheus' text format, written by hand: sixty lines, against a dependency in every worker."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Labels = Mapping[str, str]


@dataclass(slots=True)
class Family:
    """One metric: its name, what it is (counter, gauge, histogram), what it tells, and its samples."""

    name: str
    kind: str
    help: str
    lines: list[tuple[str, Labels, float]] = field(default_factory=list)

    def sample(self, value: float, **labels: str) -> None:
        """One number."""
        self.lines.append((self.name, labels, value))

    def buckets(self, bounds: Sequence[float], counts: Sequence[int], total: float, **labels: str) -> None:
        """A histogram: how many were in each bucket, the last one behind the last bound, and the sum of all."""
        sums = list(accumulate(counts))
        for bound, below in zip((*bounds, math.inf), sums, strict=True):
            self.lines.append((f"{self.name}_bucket", {**labels, "le": _number(bound)}, below))
        self.lines.append((f"{self.name}_sum", labels, total))
        self.lines.append((f"{self.name}_count", labels, sums[-1]))


def counter(name: str, text: str) -> Family:
    """What only grows; its name ends in _total."""
    return Family(name, "counter", text)


def gauge(name: str, text: str) -> Family:
    """What goes up and down."""
    return Family(name, "gauge", text)


def histogram(name: str, text: str) -> Family:
    """What is counted in buckets."""
    return Family(name, "histogram", text)


def render(families: Iterable[Family], **labels: str) -> str:
    """The page; `labels` are put on every sample. A family without samples is left out."""
    parts = []
    for family in families:
        if family.lines:
            parts.append(f"# HELP {family.name} {_escaped(family.help)}\n# TYPE {family.name} {family.kind}\n")
            parts += [f"{name}{_labels({**own, **labels})} {_number(value)}\n" for name, own, value in family.lines]
    return "".join(parts)


def merge(pages: Iterable[str]) -> str:
    """Several pages as one: what is said of a metric stands together, under one heading. The pages see that labels
    tell their samples apart."""
    headings: dict[str, str] = {}
    samples: dict[str, list[str]] = {}
    for page in pages:
        name = ""
        for line in page.splitlines():
            if line.startswith("# HELP "):
                name = line.split(" ", 3)[2]
                headings.setdefault(name, f"{line}\n")
            elif line.startswith("# TYPE "):
                if name not in samples:
                    headings[name] += f"{line}\n"
                samples.setdefault(name, [])
            elif line:
                samples[name].append(f"{line}\n")
    return "".join(headings[name] + "".join(lines) for name, lines in samples.items())


def _labels(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_quoted(value)}"' for name, value in labels.items()) + "}"


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', '\\"')


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
