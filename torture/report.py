"""The verdict in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from torture.clocks import find_library
from torture.run import Verdict
from torture.slo import by_fault

_SHOWN = 5


def render(verdict: Verdict) -> str:
    """All of it."""
    return "\n".join(_lines(verdict))


def _lines(verdict: Verdict) -> Iterator[str]:
    evidence = verdict.evidence
    known = Counter(offer.ok for offer in evidence.offers.values())
    yield f"tier {verdict.tier.name}, seed {verdict.seed}, schedule {verdict.schedule}, PostgreSQL {verdict.postgres}"
    yield f"offered {len(evidence.offers):,} jobs: {known[True]:,} acknowledged, {known[None]:,} in doubt"
    yield f"{len(evidence.rows):,} in the table, {len(evidence.runs):,} runs, {len(evidence.history):,} changes"
    yield "faults: " + ", ".join(f"{name} {count:,}" for name, count in sorted(by_fault(evidence).items()))
    clocks = f"{verdict.landed.get('wrong_clocks', 0)} workers had clocks that were off by hours"
    yield clocks if find_library() else "all clocks were right: libfaketime is not installed"
    pooler = f"one worker in {verdict.tier.workers} behind pgbouncer, which was killed"
    times = verdict.landed.get("pooler_restarts", 0)
    yield f"{pooler} {times} times" if times else "nobody behind pgbouncer: it is not installed"
    if verdict.tier.quota.rolling_deploys:
        yield f"workers and one producer began with {verdict.began_with.name}"
        older = evidence.most_connections_of_older
        yield f"at most {older} connections of a worker of that release, {evidence.most_connections} of this one"
    if verdict.tier.quota.failovers:
        yield "every commit waited for a synchronous standby"
    yield ""
    for name, least in verdict.tier.quota.items():
        if not least:
            continue
        count = verdict.landed.get(name, 0)
        yield f"{'  ' if count >= least else '! '}{name.replace('_', ' '):<28}{count:>9,} of {least:,} wanted"
    yield ""
    for slo in verdict.slos:
        measured = "nothing to measure" if slo.seconds is None else f"{slo.seconds:.2f} s of {slo.limit:.0f} s allowed"
        mark = "  " if slo.met or not verdict.tier.timed else "! "
        yield f"{mark}{slo.name:<46}{measured} (n = {slo.measured:,})"
    yield ""
    for name, found in verdict.violations.items():
        yield f"{'! ' if found else '  '}{name.replace('_', ' '):<28}{len(found):>9,}"
        for line in found[:_SHOWN]:
            yield f"      {line}"
    for line in verdict.failures:
        yield f"! the rig: {line}"
    for line in verdict.too_easy:
        yield f"! too easy: {line}"
    yield ""
    yield (
        "HELD" if verdict.held else f"FAILED; ledgers and logs are in {verdict.folder}; repeat: --replay {verdict.seed}"
    )
