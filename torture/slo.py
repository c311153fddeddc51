"""How long recovery took, against what is promised."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from torture.evidence import OUTAGES, Change, Evidence, worker_of
from torture.tiers import DRAIN_SECONDS, SILENCE_SECONDS

RECLAIM_SECONDS = SILENCE_SECONDS + 3.0
FIRST_COMPLETION_SECONDS = 5.0
#: The outage itself lies within it.
_BUSY_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Slo:
    """One promise: what was measured, over how many, and its limit. seconds None: nothing to measure."""

    name: str
    seconds: float | None
    measured: int
    limit: float

    @property
    def met(self) -> bool:
        """Kept, or not applicable."""
        return self.seconds is None or self.seconds <= self.limit


def measure(evidence: Evidence, back: list[float]) -> list[Slo]:
    """All of them."""
    reclaims = _reclaims(evidence)
    first = _first_completions(evidence, back)
    drained = evidence.drained_seconds
    return [
        Slo("kill to re-claim, p99", _p99(reclaims), len(reclaims), RECLAIM_SECONDS),
        Slo(
            "PostgreSQL back to first completion, slowest",
            max(first, default=None),
            len(first),
            FIRST_COMPLETION_SECONDS,
        ),
        Slo("drained after the last fault", drained if drained is not None else float("inf"), 1, DRAIN_SECONDS),
    ]


def _reclaims(evidence: Evidence) -> list[float]:
    """From a worker's kill to the next claim of each job that it held."""
    kills = {strike.worker: strike.began for strike in evidence.strikes if strike.fault == "kill"}
    outages = [strike for strike in evidence.strikes if strike.fault in OUTAGES]
    held: dict[object, Change] = {}
    waits = []
    for change in evidence.history:
        before = held.pop(change.job, None) if change.became == "claimed" else None
        if before is not None:
            killed = kills.get(worker_of(before))
            # While the server itself was away nobody could claim.
            away = killed is not None and any(o.began <= change.at and o.ended >= killed for o in outages)
            if killed is not None and before.at <= killed < change.at and not away:
                waits.append(change.at - killed)
        if change.became in ("claimed", "running"):
            held.setdefault(change.job, change)
            if change.became == "claimed":
                held[change.job] = change
        elif change.became != "pending":
            held.pop(change.job, None)
    return waits


def _first_completions(evidence: Evidence, back: list[float]) -> list[float]:
    """From the server's first answer to the first completion, whoever completes. If there is none in time, it counts,
    unless every worker was killed, stopped or cut off around that moment by another fault. Where nothing had been
    completed just before, there was nothing to do."""
    ends = sorted(change.at for change in evidence.history if change.became == "completed")
    found = []
    for moment in back:
        first = next((at - moment for at in ends if at > moment), None)
        busy = any(moment - _BUSY_SECONDS < at < moment for at in ends)
        if busy and first is not None and (first <= FIRST_COMPLETION_SECONDS or _undisturbed(evidence, moment)):
            found.append(first)
    return found


def _undisturbed(evidence: Evidence, moment: float) -> set[str]:
    """Workers that had claimed before, claimed again after, and met nothing else within the limit."""
    claims = [(change.at, worker_of(change)) for change in evidence.history if change.became == "claimed"]
    before = {worker for at, worker in claims if at < moment}
    # One that never claims again had died; its death is among the strikes, but may lie before.
    after = {worker for at, worker in claims if at > moment}
    struck = {
        strike.worker
        for strike in evidence.strikes
        if strike.began <= moment + FIRST_COMPLETION_SECONDS and strike.ended >= moment
    }
    return (before & after) - {worker for worker in struck if worker is not None}


def _p99(values: list[float]) -> float | None:
    if not values:
        return None
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]


def by_fault(evidence: Evidence) -> dict[str, int]:
    """How many of each fault landed."""
    counted: dict[str, int] = defaultdict(int)
    for strike in evidence.strikes:
        counted[strike.fault] += 1
    return dict(counted)
