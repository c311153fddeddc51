"""The judge: pure functions from the evidence to violations. All of them must find nothing.

A new capability adds its invariants here: write a function from Evidence to lines that each name a job and what is
wrong with it, and list it in INVARIANTS.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import pairwise
from uuid import UUID

from torture.evidence import OUTAGES, Change, Evidence, Run, Strike, worker_of

TERMINAL = {"completed", "failed", "cancelled"}
HELD = {"claimed", "running"}
POISON_RUNS = 3
#: A worker has one connection each for claims, acknowledgements, the bell, the pulse and the chores.
CONNECTIONS = 5
#: What commits late is found within two seconds in peace; the rest is for a busy machine and for faults that hide it.
ORDER_SLACK_SECONDS = 5.0
#: From the first to the last row of one claim.
BATCH_SECONDS = 0.25
#: A fault and what it explains are noted by two processes.
EXPLAINED_SECONDS = 0.5
#: Faults after which a job may be run again. A lost reply, a broken connection or a slow network is none of them.
EXPLAINING = {"kill", "died", "stop", "term", "black_hole", "half_open", *OUTAGES}

Invariant = Callable[[Evidence], Iterator[str]]


def lost(evidence: Evidence) -> Iterator[str]:
    """An enqueue that was acknowledged, and no job, or one that has not ended."""
    there = Counter(row.token for row in evidence.rows)
    for offer in evidence.offers.values():
        if offer.ok and not there[offer.token]:
            yield f"token {offer.token} ({offer.kind}) was acknowledged and is not in the table"


def unexpected(evidence: Evidence) -> Iterator[str]:
    """A job in the table, or run, that nobody offered; or two for one offer."""
    there = Counter(row.token for row in evidence.rows)
    for token, count in there.items():
        if token not in evidence.offers:
            yield f"token {token} is in the table and was never offered"
        elif count > 1:
            yield f"token {token} is {count} times in the table"
    known = {row.job for row in evidence.rows}
    for run in evidence.runs:
        if run.job not in known:
            yield f"job {run.job} was run and is not in the table"


def stuck(evidence: Evidence) -> Iterator[str]:
    """Not ended, though everything healed and there was time."""
    for row in evidence.rows:
        if row.status not in TERMINAL:
            yield f"job {row.job} ({row.kind}) is still {row.status} after {row.attempts} attempts"
    if evidence.drained_seconds is None:
        yield "not drained in time after the last fault"
    if not evidence.producers_finished:
        yield "a producer did not come to its end"


def acknowledged_twice(evidence: Evidence) -> Iterator[str]:
    """Every job ends exactly once, and whatever has ended stays so."""
    for job, changes in evidence.changes().items():
        ends = [change for change in changes if change.became in TERMINAL]
        if len(ends) > 1:
            yield f"job {job} ended {len(ends)} times: {', '.join(change.became for change in ends)}"
        for change in changes:
            if change.was in TERMINAL:
                yield f"job {job} went from {change.was} to {change.became}"


def stale(evidence: Evidence) -> Iterator[str]:
    """A completion that did not come from the claim that held the job."""
    for change in evidence.history:
        if change.became != "completed" or not isinstance(change.result, dict):
            continue
        worker, attempt = change.result.get("worker"), change.result.get("attempt")
        if (worker, attempt) != (worker_of(change), change.attempt):
            held = f"attempt {change.attempt} of {worker_of(change)}"
            yield f"job {change.job}: {held} was completed by attempt {attempt} of {worker}"


def leases(evidence: Evidence) -> Iterator[str]:
    """Every claim has a higher lease and counts an attempt; nothing is held without a claim."""
    for job, changes in evidence.changes().items():
        claims = [change for change in changes if change.became == "claimed"]
        for before, after in pairwise(claims):
            if after.lease <= before.lease:
                yield f"job {job}: lease {after.lease} follows {before.lease}"
        for before, after in pairwise(changes):
            if after.became == "running" and before.became not in HELD:
                yield f"job {job} went from {before.became} to running without a claim"
            if after.became == "claimed" and after.attempt != before.attempt + 1:
                yield f"job {job}: a claim took its attempts from {before.attempt} to {after.attempt}"


def unclaimed_runs(evidence: Evidence) -> Iterator[str]:
    """A handler runs once for each claim, by the worker that claimed."""
    claims = {
        (change.job, change.attempt, worker_of(change)) for change in evidence.history if change.became == "claimed"
    }
    counted = Counter((run.job, run.attempt, run.worker) for run in evidence.runs)
    for (job, attempt, worker), count in counted.items():
        if (job, attempt, worker) not in claims:
            yield f"job {job}: {worker} ran attempt {attempt} without having claimed it"
        if count > 1:
            yield f"job {job}: {worker} ran attempt {attempt} {count} times"


def unexplained_duplicates(evidence: Evidence) -> Iterator[str]:
    """A job that ran again, and no fault that hit its claim before; the handler had not raised either."""
    explained = Explanations(evidence)
    for job, runs in evidence.runs_of().items():
        for before, after in pairwise(sorted(runs, key=lambda run: run.attempt)):
            if before.how != "raised" and not explained.loss_of(before, after.began):
                yield f"job {job}: ran on {before.worker} ({before.how}) and, without a fault, again on {after.worker}"


def repeated_after_the_end(evidence: Evidence) -> Iterator[str]:
    """A run that began after the job had ended, other than by a worker that had been away and did not know yet: a lost
    reply to an acknowledgement is no reason to run again."""
    explained = Explanations(evidence)
    ended: dict[UUID, float] = {change.job: change.at for change in evidence.history if change.became in TERMINAL}
    for run in evidence.runs:
        late = run.began - ended.get(run.job, run.began)
        if late > 0.1 and not explained.loss_of(run, ended[run.job]):
            yield f"job {run.job}: run by {run.worker} {late:.2f} s after it had ended"


def priority(evidence: Evidence) -> Iterator[str]:
    """Claimed while a job of higher priority had been waiting for longer than any late commit explains."""
    claims: dict[UUID, list[float]] = defaultdict(list)
    for change in evidence.history:
        if change.became == "claimed":
            claims[change.job].append(change.at)
    since: dict[UUID, float] = {}
    soon: list[tuple[float, int, UUID]] = []
    long: list[tuple[int, float, UUID]] = []
    for change in evidence.history:
        while soon and soon[0][0] + ORDER_SLACK_SECONDS <= change.at:
            visible, rank, job = heappop(soon)
            heappush(long, (rank, visible, job))
        if change.became == "pending":
            since[change.job] = change.visible
            heappush(soon, (change.visible, -change.priority, change.job))
            continue
        since.pop(change.job, None)
        while long and since.get(long[0][2]) != long[0][1]:
            heappop(long)
        if change.became == "claimed" and long and -long[0][0] > change.priority:
            rank, visible, job = long[0]
            # Within one claim the order of the rows means nothing.
            together = any(abs(at - change.at) < BATCH_SECONDS for at in claims[job])
            if not together and not _outage(evidence, visible, change.at):
                waited = f"waiting for {change.at - visible:.1f} s"
                yield f"job {change.job} (priority {change.priority}) was claimed before {job} ({-rank}), {waited}"


def poison(evidence: Evidence) -> Iterator[str]:
    """A job that kills its worker runs three times at most and is then set aside; no other is, unless it met as many
    faults."""
    runs = evidence.runs_of()
    explained = Explanations(evidence)
    changes = evidence.changes()
    for row in evidence.rows:
        if row.kind == "poison":
            count = len(runs.get(row.job, []))
            if row.status != "failed" or row.deaths != POISON_RUNS or count > POISON_RUNS:
                yield f"poison {row.job}: {count} runs, {row.deaths} deaths, {row.status}"
        elif row.status != "completed":
            deaths = sum(explained.death(before, after) for before, after in pairwise(changes.get(row.job, [])))
            if row.status != "failed" or deaths < POISON_RUNS:
                what = f"{row.status} after {row.deaths} deaths and {row.errors} errors; {deaths} faults hit it"
                yield f"job {row.job} ({row.kind}): {what}"


def progress(evidence: Evidence) -> Iterator[str]:
    """Progress goes forward within a claim, and ends at 100."""
    for change in evidence.history:
        if change.backward:
            yield f"job {change.job}: progress went backwards in attempt {change.attempt}"
    for row in evidence.rows:
        if row.status == "completed" and row.progress != 100:
            yield f"job {row.job}: completed at {row.progress} percent"


def server(evidence: Evidence) -> Iterator[str]:
    """No deadlocks, and no more connections than promised."""
    yield from evidence.deadlocks
    if evidence.most_connections > CONNECTIONS:
        yield f"{evidence.busiest} had {evidence.most_connections} connections; {CONNECTIONS} are its budget"


INVARIANTS: tuple[Invariant, ...] = (
    lost,
    unexpected,
    stuck,
    acknowledged_twice,
    stale,
    leases,
    unclaimed_runs,
    unexplained_duplicates,
    repeated_after_the_end,
    priority,
    poison,
    progress,
    server,
)


class Explanations:
    """Which faults may have cost a worker its claims."""

    def __init__(self, evidence: Evidence) -> None:
        self._faults: dict[str | None, list[Strike]] = defaultdict(list)
        for strike in evidence.strikes:
            if strike.fault in EXPLAINING:
                self._faults[strike.worker].append(strike)
        claims = [change for change in evidence.history if change.became == "claimed"]
        self._claimed = {(claim.job, claim.attempt, worker_of(claim)): claim.at for claim in claims}

    def loss_of(self, run: Run, until: float) -> bool:
        """Whether a fault hit the claim of this run before that moment."""
        return self._hit(run.worker, self._claimed.get((run.job, run.attempt, run.worker), run.began), until)

    def death(self, before: Change, after: Change) -> bool:
        """Whether a claim was lost between these changes of a job, and a fault is the reason."""
        return after.deaths > before.deaths and self._hit(worker_of(before), before.at, after.at)

    def _hit(self, worker: str, since: float, until: float) -> bool:
        hits = [*self._faults[worker], *self._faults[None]]
        return any(strike.began <= until and strike.ended >= since - EXPLAINED_SECONDS for strike in hits)


def check(evidence: Evidence) -> dict[str, list[str]]:
    """The violations of each invariant."""
    return {invariant.__name__: list(invariant(evidence)) for invariant in INVARIANTS}


def _outage(evidence: Evidence, begin: float, end: float) -> bool:
    return any(strike.fault in OUTAGES and strike.began <= end and strike.ended >= begin for strike in evidence.strikes)
