"""Which scenarios there are, in the order in which they are run."""

from __future__ import annotations

from collections.abc import Callable

from howdah.bench.outcome import Outcome
from howdah.bench.scenarios import deep, drain, enqueue, idle, latency, memory, pinned, progress, sustained, types
from howdah.bench.stage import Stage

SCENARIOS: dict[str, Callable[[Stage], Outcome]] = {
    "drain": drain.measure,
    "sustained": sustained.measure,
    "latency": latency.measure,
    "enqueue": enqueue.measure,
    "pinned": pinned.measure,
    "deep": deep.measure,
    "types": types.measure,
    "idle": idle.measure,
    "progress": progress.measure,
    "memory": memory.measure,
}
#: Without a name: a look at everything that takes seconds.
TOUR = ("drain", "sustained", "latency", "enqueue")
